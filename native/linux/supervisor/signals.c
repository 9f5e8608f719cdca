/*
 * Signals and job control, see signals.h.
 *
 * The terminal signals a whole process group, so the command has had its
 * Ctrl-C when we read ours; only what was sent to us alone is passed on. A
 * command that stops without us (its signals do not reach out of the
 * sandbox, and vim stops its own group) makes us stop, so that the shell
 * that started us sees a stopped job.
 */
#include "signals.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "../launch/init.h"
#include "terminal.h"

static const int forwarded[] = {
	SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH,
};

static void fill_mask(sigset_t *mask)
{
	(void)sigemptyset(mask);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		(void)sigaddset(mask, forwarded[i]);
}

void block_signals(sigset_t *ret_previous)
{
	sigset_t mask;

	fill_mask(&mask);
	(void)sigaddset(&mask, SIGTTOU); /* tcsetpgrp() from the background */
	(void)sigprocmask(SIG_BLOCK, &mask, ret_previous);
}

/* Whether the command has not had it from the terminal itself. */
static bool is_for_command(const struct supervisor *sup,
			   const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (info->ssi_code <= 0)
		return true; /* by kill(2) and the like, sigaction(2) */
	if (sup->plan->terminal_relayed)
		return signal != SIGWINCH; /* it is in a session of its own */
	/* A hang-up is told to the session's leader alone. */
	return signal == SIGHUP && getsid(0) == getpid();
}

/* Reads all that is pending; whether we were continued meanwhile. */
static bool drain_signals(struct supervisor *sup)
{
	struct signalfd_siginfo info;
	bool continued = false;

	while (RETRY(read(sup->signal_source.fd, &info, sizeof(info))) ==
	       sizeof(info)) {
		if (info.ssi_signo == SIGCONT)
			continued = true;
		if (info.ssi_signo == SIGCONT || info.ssi_signo == SIGWINCH)
			terminal_changed(sup);
		if (is_for_command(sup, &info))
			(void)!send_control(sup->control,
					    info.ssi_code <= 0
						    ? CONTROL_SIGNAL
						    : CONTROL_GROUP_SIGNAL,
					    (int)info.ssi_signo);
	}
	return continued;
}

static void on_signal(void *owner, uint32_t events)
{
	(void)events;
	(void)drain_signals(owner);
}

int signals_start(struct supervisor *sup)
{
	sigset_t mask;
	int fd;

	fill_mask(&mask);
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	sup->signal_source = (struct loop_source){
		.fd = fd,
		.ready = on_signal,
		.owner = sup,
	};
	/* A reader that is gone must not end the supervisor. */
	(void)signal(SIGPIPE, SIG_IGN);
	return loop_add(&sup->loop, &sup->signal_source, EPOLLIN);
}

/* Whether that process group's leader is one of the sandbox. */
static bool is_inside(pid_t group)
{
	struct stat theirs, ours;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", group);
	return stat(path, &theirs) == 0 &&
	       stat("/proc/self/ns/pid", &ours) == 0 &&
	       theirs.st_ino != ours.st_ino;
}

void follow_stop(struct supervisor *sup)
{
	AUTO_CLOSE int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
	pid_t foreground = terminal < 0 ? -1 : tcgetpgrp(terminal);

	/* Ctrl-Z stopped us as well, and we are on again: nothing to do. */
	if (drain_signals(sup))
		return;
	/* Without a shell that waits at the terminal, only the command. */
	if (foreground < 0 ||
	    (foreground != getpgrp() && !is_inside(foreground)))
		return;
	terminal_pause(sup);
	(void)kill(0, SIGTSTP); /* goes on here after SIGCONT */
	/* Not stopped: nobody is there to continue us (orphaned group). */
	if (!drain_signals(sup)) {
		terminal_changed(sup);
		return;
	}
	if (foreground != getpgrp() && tcgetpgrp(terminal) == getpgrp())
		(void)tcsetpgrp(terminal, foreground);
	(void)!send_control(sup->control, CONTROL_GROUP_SIGNAL, SIGCONT);
}

void restore_foreground(void)
{
	AUTO_CLOSE int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
	pid_t foreground = terminal < 0 ? -1 : tcgetpgrp(terminal);

	/* A living group has it by right: the shell, or our own. */
	if (foreground <= 0 || kill(-foreground, 0) == 0 || errno != ESRCH)
		return;
	(void)tcsetpgrp(terminal, getpgrp());
}
