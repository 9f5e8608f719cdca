/*
 * Pid 1 of the sandbox, see init.h. It runs behind the same filter as the
 * command, holds nothing but the control socket, and cannot be attached to:
 * whoever controls pid 1 would control the end of the run. When it ends,
 * for whatever reason, the kernel kills everything in the pid namespace.
 */
#include "init.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../common/limits.h"

int send_control(int control, enum control_kind kind, int value)
{
	struct control_message message = { .kind = kind, .value = value };

	if (RETRY(send(control, &message, sizeof(message), MSG_NOSIGNAL)) < 0)
		return -errno;
	return 0;
}

/* The descriptors of a hand-over, in the order in which they travel. */
enum { HANDED = 3 };

static void list_descriptors(struct hand_over *given, int *list[HANDED])
{
	list[0] = &given->root;
	list[1] = &given->listener;
	list[2] = &given->terminal;
}

struct hand_over_message {
	struct control_message control;
	bool present[HANDED];
};

int send_hand_over(int control, const struct hand_over *given)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(HANDED * sizeof(int))];
	struct hand_over_message body = {
		.control = { CONTROL_HANDED_OVER, given->gaps },
	};
	struct hand_over copy = *given;
	struct iovec io = { .iov_base = &body, .iov_len = sizeof(body) };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *header = (struct cmsghdr *)space;
	int *list[HANDED], count = 0;

	list_descriptors(&copy, list);
	memset(space, 0, sizeof(space));
	for (int i = 0; i < HANDED; i++) {
		if (*list[i] < 0)
			continue;
		body.present[i] = true;
		memcpy(CMSG_DATA(header) + (size_t)count++ * sizeof(int),
		       list[i], sizeof(int));
	}
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
	message.msg_control = space;
	message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
	if (RETRY(sendmsg(control, &message, MSG_NOSIGNAL)) < 0)
		return -errno;
	return 0;
}

int send_device(int control, const struct handed_device *device)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))];
	const int descriptors[] = { device->fd, device->root };
	struct control_message body = { CONTROL_DEVICE, device->number };
	struct iovec io = { .iov_base = &body, .iov_len = sizeof(body) };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *header = (struct cmsghdr *)space;

	memset(space, 0, sizeof(space));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(descriptors));
	memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
	if (RETRY(sendmsg(control, &message, MSG_NOSIGNAL)) < 0)
		return -errno;
	return 0;
}

static int take_device(const char *bytes, const struct cmsghdr *header,
		       struct handed_device *ret_device)
{
	struct control_message body;
	int descriptors[2];

	memcpy(&body, bytes, sizeof(body));
	if (body.kind != CONTROL_DEVICE ||
	    header->cmsg_len != CMSG_LEN(sizeof(descriptors)))
		return -EBADMSG;
	memcpy(descriptors, CMSG_DATA(header), sizeof(descriptors));
	*ret_device = (struct handed_device){ descriptors[0], descriptors[1],
					      body.value };
	return 1;
}

int receive_hand_over(int control, struct hand_over *ret_given,
		      struct handed_device *ret_device, char *ret_error,
		      size_t capacity, size_t *ret_length)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(HANDED * sizeof(int))];
	struct hand_over_message body;
	struct hand_over given;
	struct iovec io = { .iov_base = ret_error, .iov_len = capacity };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *header;
	int *list[HANDED], next = 0;
	ssize_t got = RETRY(recvmsg(control, &message, MSG_CMSG_CLOEXEC));

	if (got < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (!header) {
		*ret_length = (size_t)got;
		return -EPROTO; /* an error frame, or nothing: it died */
	}
	if (got == sizeof(struct control_message))
		return take_device(ret_error, header, ret_device);
	if (got != sizeof(body))
		return -EBADMSG;
	memcpy(&body, ret_error, sizeof(body));
	given.gaps = body.control.value;
	list_descriptors(&given, list);
	for (int i = 0; i < HANDED; i++) {
		*list[i] = -1;
		if (body.present[i])
			memcpy(list[i],
			       CMSG_DATA(header) + (size_t)next++ * sizeof(int),
			       sizeof(int));
	}
	*ret_given = given;
	return 0;
}

/* Pid 1 */

/*
 * A session of our own, so that nothing the command does to its terminal
 * reaches ours. We lead it and the command gets a group in it: the group of
 * a session's leader has nobody to continue it, so Ctrl-Z would not stop it
 * ("orphaned process group", setpgid(2)).
 */
static void enter_session(const struct command *command)
{
	if (!command->own_session)
		return;
	(void)setsid();
	if (command->terminal >= 0)
		(void)ioctl(command->terminal, TIOCSCTTY, 0);
}

/* In the command, with SIGTTOU still blocked. */
static void enter_foreground(const struct command *command)
{
	if (!command->own_session)
		return;
	(void)setpgid(0, 0);
	if (command->terminal < 0)
		return;
	(void)tcsetpgrp(command->terminal, getpid());
	for (int fd = 0; fd < 3; fd++)
		if (command->replaced[fd])
			(void)dup2(command->terminal, fd);
}

/*
 * Whether PATH leads to a file of that name at all: execvpe() says EACCES
 * also when it could only not look into one of the directories.
 */
static bool is_in_path(const struct command *command)
{
	const char *name = command->arguments[0], *path = "";
	char candidate[PATH_BYTES_MAX];

	for (char **entry = command->environment; *entry; entry++)
		if (strncmp(*entry, "PATH=", 5) == 0)
			path = *entry + 5;
	while (*path) {
		size_t length = strcspn(path, ":");

		if (length + strlen(name) + 2 <= sizeof(candidate)) {
			memcpy(candidate, path, length);
			candidate[length] = '/';
			strcpy(candidate + length + 1, name);
			if (faccessat(AT_FDCWD, candidate, F_OK, 0) == 0)
				return true;
		}
		path += length + (path[length] == ':');
	}
	return false;
}

/* Between vfork and exec: only system calls, our memory is shared. */
static _Noreturn void become_command(const struct command *command,
				     volatile int *err)
{
	enter_foreground(command);
	(void)setrlimit(RLIMIT_NOFILE, &command->files);
	(void)sigprocmask(SIG_SETMASK, &command->mask, NULL);
	(void)execvpe(command->arguments[0], command->arguments,
		      command->environment);
	*err = errno;
	if (*err == EACCES && !strchr(command->arguments[0], '/') &&
	    !is_in_path(command))
		*err = ENOENT;
	_exit(*err == ENOENT || *err == ENOTDIR ? EXIT_NOT_FOUND
						: EXIT_NOT_EXECUTABLE);
}

static pid_t start_command(const struct command *command, int *ret_err)
{
	volatile int err = 0;
	pid_t pid = vfork();

	if (pid == 0)
		become_command(command, &err);
	*ret_err = pid < 0 ? errno : err;
	return pid;
}

/* Takes what has ended or stopped; ends with the command. */
static void reap(int control, pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != command)
			continue;
		if (WIFSTOPPED(status)) {
			(void)!send_control(control, CONTROL_STOPPED,
					    WSTOPSIG(status));
			continue;
		}
		(void)!send_control(control, CONTROL_ENDED, status);
		_exit(0);
	}
}

/* The launcher's word; its death is the end of the run. */
static void listen_to_launcher(int control, const struct command *command,
			       pid_t pid)
{
	struct control_message message = { 0 };
	ssize_t got = RETRY(recv(control, &message, sizeof(message), 0));

	if (got != sizeof(message))
		_exit(EXIT_SET_UP);
	if (message.kind == CONTROL_GROUP_SIGNAL && command->own_session)
		(void)kill(-pid, message.value);
	else if (message.kind == CONTROL_SIGNAL ||
		 message.kind == CONTROL_GROUP_SIGNAL)
		(void)kill(pid, message.value);
}

static void wait_for_go(int control)
{
	struct control_message message = { 0 };
	ssize_t got = RETRY(recv(control, &message, sizeof(message), 0));

	if (got != sizeof(message) || message.kind != CONTROL_GO)
		_exit(EXIT_SET_UP);
}

void run_init(int control, const struct command *command)
{
	struct pollfd waiting[2] = { { .events = POLLIN },
				     { .events = POLLIN } };
	struct signalfd_siginfo child;
	sigset_t mask;
	pid_t pid;
	int err;

	/*
	 * The launcher may have died before this, then wait_for_go() sees
	 * its end of the socket closed. Not before capset(2), which clears it.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("init", errno, "could not tie the run to the launcher");
	wait_for_go(control);
	/*
	 * Before the vfork: afterwards the program could attach to us first.
	 * Its own exec makes the program dumpable again.
	 */
	if (prctl(PR_SET_DUMPABLE, 0))
		die("init", errno, "could not shut pid 1 against tracing");
	environ = command->environment; /* execvpe() looks for PATH there */
	(void)sigfillset(&mask);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	waiting[0].fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	waiting[1].fd = control;
	if (waiting[0].fd < 0 || close_range(3, ~0U, CLOSE_RANGE_CLOEXEC))
		die("init", errno, "could not close the descriptors");
	enter_session(command);
	pid = start_command(command, &err);
	if (err)
		(void)!send_control(control, CONTROL_NOT_STARTED, err);
	if (pid < 0)
		_exit(EXIT_SET_UP);
	for (;;) {
		if (poll(waiting, 2, -1) < 0)
			continue;
		if (waiting[0].revents) {
			(void)!read(waiting[0].fd, &child, sizeof(child));
			reap(control, pid);
		}
		if (waiting[1].revents)
			listen_to_launcher(control, command, pid);
	}
}
