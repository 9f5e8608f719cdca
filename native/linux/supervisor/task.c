/* A task of the sandbox, seen from outside, see task.h. */
#include "task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "../launch/uapi.h"

enum { PROC_PATH_MAX = 48, PAGE_BYTES = 4096 };

int task_open(pid_t thread, const char *name, int flags)
{
	char path[PROC_PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", thread, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int task_read_link(pid_t thread, const char *name,
		   char ret_target[PATH_BYTES_MAX])
{
	char path[PROC_PATH_MAX];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", thread, name);
	length = readlink(path, ret_target, PATH_BYTES_MAX - 1);
	if (length < 0)
		return -errno;
	ret_target[length] = '\0';
	return 0;
}

int task_read_status(pid_t thread, char ret_status[TASK_STATUS_BYTES_MAX])
{
	AUTO_CLOSE int fd = task_open(thread, "status", O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return fd;
	got = RETRY(read(fd, ret_status, TASK_STATUS_BYTES_MAX - 1));
	if (got < 0)
		return -errno;
	ret_status[got] = '\0';
	return 0;
}

int task_status_number(const char *status, const char *field, int base,
		       unsigned long long *ret_number)
{
	const char *found = strstr(status, field);

	if (!found)
		return -EBADMSG;
	*ret_number = strtoull(found + strlen(field), NULL, base);
	return 0;
}

int task_open_pidfd(pid_t thread, int *ret_pidfd)
{
	int fd = (int)syscall(SYS_pidfd_open, thread, PIDFD_THREAD);
	char status[TASK_STATUS_BYTES_MAX];
	unsigned long long process;
	int err;

	if (fd < 0 && errno == EINVAL) {
		err = task_read_status(thread, status);
		if (!err)
			err = task_status_number(status, "\nTgid:\t", 10,
						 &process);
		if (err)
			return err;
		fd = (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
	}
	if (fd < 0)
		return -errno;
	*ret_pidfd = fd;
	return 0;
}

int task_take_descriptor(pid_t thread, int fd, int *ret_fd)
{
	AUTO_CLOSE int pidfd = -1;
	int err, taken;

	err = task_open_pidfd(thread, &pidfd);
	if (err)
		return -ESRCH;
	taken = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (taken < 0)
		return -errno;
	*ret_fd = taken;
	return 0;
}

/* Less than asked for where the rest cannot be read; an address is a number. */
static ssize_t read_memory(pid_t thread, uint64_t address, void *ret_bytes,
			   size_t size)
{
	struct iovec to = { ret_bytes, size };
	struct iovec from = { (void *)(uintptr_t)address, size };

	return process_vm_readv(thread, &to, 1, &from, 1, 0);
}

int task_read_memory(pid_t thread, uint64_t address, void *ret_bytes,
		     size_t size)
{
	if (size == 0)
		return 0;
	return read_memory(thread, address, ret_bytes, size) == (ssize_t)size
		       ? 0
		       : -EFAULT;
}

/* Page by page: nothing behind its end need be there. */
int task_read_string(pid_t thread, uint64_t address, char *ret_string,
		     size_t size)
{
	size_t length = 0;

	while (length < size) {
		size_t part =
			PAGE_BYTES - (size_t)((address + length) % PAGE_BYTES);

		if (part > size - length)
			part = size - length;
		if (read_memory(thread, address + length, ret_string + length,
				part) != (ssize_t)part)
			return -EFAULT;
		if (memchr(ret_string + length, '\0', part))
			return 0;
		length += part;
	}
	return -ENAMETOOLONG;
}
