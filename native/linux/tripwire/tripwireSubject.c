/*
 * Who asks: FUSE names a thread as the sandbox's pid namespace counts. The
 * kernel translates since Linux 6.11 (ioctl_nsfs(2)); before, the processes
 * of /proc are searched for one that says so (proc_pid_status(5), NSpid).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tripwireService.h"

#ifndef NS_GET_PID_FROM_PIDNS
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#endif

enum {
	STATUS_BYTES_MAX = 4096,
	LEVELS_MAX = 32, /* pid namespaces in each other, pid_namespaces(7) */
	ANCESTORS_MAX = 1024,
};

/* The numbers of a thread from the host's namespace inwards. */
static size_t read_numbers(const char *task, pid_t ret_numbers[LEVELS_MAX])
{
	char path[64], status[STATUS_BYTES_MAX], *at;
	AUTO_CLOSE int fd = -1;
	size_t count = 0;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%s/status", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : RETRY(read(fd, status, sizeof(status) - 1));
	if (length < 0)
		return 0;
	status[length] = '\0';
	at = strstr(status, "\nNSpid:");
	if (!at)
		return 0;
	at += strlen("\nNSpid:");
	while (*at == '\t' && count < LEVELS_MAX)
		ret_numbers[count++] = (pid_t)strtol(at + 1, &at, 10);
	return count;
}

/* Other sandboxes count alike: whether it descends from our pid 1. */
static bool is_inside(const struct tripwires *tw, pid_t pid)
{
	char path[64], line[STATUS_BYTES_MAX];

	for (int depth = 0; depth < ANCESTORS_MAX && pid > 1; depth++) {
		AUTO_CLOSE int fd = -1;
		const char *end;
		ssize_t length;

		if (pid == tw->sup->init)
			return true;
		(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		length = fd < 0 ? -1 : RETRY(read(fd, line, sizeof(line) - 1));
		if (length < 0)
			return false;
		line[length] = '\0';
		/* The name before may hold anything, proc_pid_stat(5). */
		end = strrchr(line, ')');
		if (!end || strlen(end) < 4)
			return false;
		pid = (pid_t)strtol(end + 4, NULL, 10);
	}
	return false;
}

static bool is_number(const char *name)
{
	return *name >= '0' && *name <= '9';
}

static pid_t search_threads(const struct tripwires *tw, const char *process,
			    size_t level, pid_t inside)
{
	pid_t numbers[LEVELS_MAX], found = 0;
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%.16s/task", process);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)))
		if (is_number(entry->d_name) &&
		    read_numbers(entry->d_name, numbers) > level &&
		    numbers[level] == inside && is_inside(tw, numbers[0]))
			found = numbers[0];
	if (tasks)
		(void)closedir(tasks);
	return found;
}

static pid_t search(const struct tripwires *tw, pid_t inside)
{
	pid_t numbers[LEVELS_MAX], found = 0;
	struct dirent *entry;
	char init[16];
	size_t depth;
	DIR *processes = opendir("/proc");

	(void)snprintf(init, sizeof(init), "%d", tw->sup->init);
	depth = read_numbers(init, numbers);
	while (depth && processes && !found && (entry = readdir(processes)))
		if (is_number(entry->d_name) &&
		    read_numbers(entry->d_name, numbers) >= depth)
			found = search_threads(tw, entry->d_name, depth - 1,
					       inside);
	if (processes)
		(void)closedir(processes);
	return found;
}

pid_t find_host_pid(const struct tripwires *tw, pid_t inside)
{
	int pid = ioctl(tw->pid_namespace, NS_GET_PID_FROM_PIDNS, inside);

	if (pid >= 0 || errno == ESRCH)
		return pid > 0 ? pid : 0;
	return search(tw, inside);
}
