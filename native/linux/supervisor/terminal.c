/*
 * The terminal relay, see terminal.h. Bytes go between a pseudo-terminal of
 * the sandbox's own devpts and our terminal, which is in raw mode: line
 * editing and signal characters are the inner one's business. Our terminal
 * gets its modes back whenever we stop, hold or end, by exit() too.
 *
 * When standard output is a pipe its reader probably uses our terminal
 * (`… | less`); then nothing is read from it and its modes are left alone.
 */
#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

enum {
	BUFFER_BYTES = 16 << 10,
	KEPT_LINES_BYTES = 8 << 10,
	FINISH_WAIT_MS = 1000
};

/* Bytes on their way from one side to the other. */
struct direction {
	char bytes[BUFFER_BYTES];
	size_t length, sent;
};

struct terminal {
	struct supervisor *sup;
	int outer;  /* ours, a description of its own, non-blocking */
	int master; /* the sandbox's */
	struct loop_source outer_source, master_source;
	struct direction in, out;
	struct termios cooked;
	bool reads;		 /* keys are passed on */
	bool keeps_output_modes; /* standard output is not our terminal */
	bool raw, held;
	char kept[KEPT_LINES_BYTES]; /* lines that wait for the answer */
	size_t kept_length;
};

void find_terminals(bool ret_terminal[3])
{
	for (int fd = 0; fd < 3; fd++)
		ret_terminal[fd] = isatty(fd) == 1;
}

int create_terminal(int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master =
		open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlocked = 0, slave;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked))
		return -errno;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	*ret_master = TAKE(master);
	*ret_slave = slave;
	return 0;
}

/* Modes of our terminal */

static bool is_foreground(const struct terminal *t)
{
	return tcgetpgrp(t->outer) == getpgrp();
}

static void set_raw(struct terminal *t)
{
	struct termios raw = t->cooked;

	if (t->raw || t->held || !t->reads || !is_foreground(t))
		return;
	cfmakeraw(&raw);
	if (t->keeps_output_modes)
		raw.c_oflag = t->cooked.c_oflag;
	t->raw = tcsetattr(t->outer, TCSADRAIN, &raw) == 0;
}

static void set_cooked(struct terminal *t)
{
	if (!t->raw)
		return;
	(void)tcsetattr(t->outer, TCSADRAIN, &t->cooked);
	t->raw = false;
}

static void set_cooked_at_exit(int status, void *terminal)
{
	(void)status;
	set_cooked(terminal);
}

static void copy_size(struct terminal *t)
{
	struct winsize size;

	if (ioctl(t->outer, TIOCGWINSZ, &size) == 0)
		(void)ioctl(t->master, TIOCSWINSZ, &size);
}

/* Relaying */

static bool is_pending(const struct direction *d)
{
	return d->sent < d->length;
}

/* Only while there is nothing left to write. */
static void receive(struct direction *d, int from)
{
	ssize_t got;

	if (is_pending(d))
		return;
	got = RETRY(read(from, d->bytes, sizeof(d->bytes)));
	d->length = got > 0 ? (size_t)got : 0;
	d->sent = 0;
}

static void transmit(struct direction *d, int to)
{
	ssize_t sent;

	while (is_pending(d)) {
		sent = RETRY(
			write(to, d->bytes + d->sent, d->length - d->sent));
		if (sent < 0 && errno != EAGAIN)
			d->sent = d->length; /* hung up: nobody to tell */
		if (sent <= 0)
			return;
		d->sent += (size_t)sent;
	}
}

static void choose_events(struct terminal *t)
{
	struct loop *loop = &t->sup->loop;
	bool reads = t->reads && t->raw && !is_pending(&t->in);
	uint32_t outer =
		(reads ? EPOLLIN : 0U) | (is_pending(&t->out) ? EPOLLOUT : 0U);
	uint32_t master = (is_pending(&t->out) ? 0U : EPOLLIN) |
			  (is_pending(&t->in) ? EPOLLOUT : 0U);

	if (t->held)
		return;
	if (loop_change(loop, &t->outer_source, outer) ||
	    loop_change(loop, &t->master_source, master))
		stop_run(t->sup, "internal");
}

static void on_outer(void *owner, uint32_t events)
{
	struct terminal *t = owner;

	/* In the background reading would stop us. */
	if (events & EPOLLIN && is_foreground(t)) {
		receive(&t->in, t->outer);
		transmit(&t->in, t->master);
	} else if (events & EPOLLIN) {
		t->raw = false; /* until SIGCONT; the shell has its modes */
	}
	transmit(&t->out, t->outer);
	choose_events(t);
	/* Hung up: SIGHUP says so as well. */
	if (events & (EPOLLHUP | EPOLLERR))
		loop_remove(&t->sup->loop, &t->outer_source);
}

static void on_master(void *owner, uint32_t events)
{
	struct terminal *t = owner;

	transmit(&t->in, t->master);
	if (events & EPOLLIN) {
		receive(&t->out, t->master);
		transmit(&t->out, t->outer);
	}
	choose_events(t);
	if (events & EPOLLHUP && !(events & EPOLLIN))
		loop_remove(&t->sup->loop, &t->master_source);
}

static int start_relaying(struct terminal *t)
{
	int err = loop_add(&t->sup->loop, &t->outer_source, 0);

	if (!err)
		err = loop_add(&t->sup->loop, &t->master_source, EPOLLIN);
	if (!err)
		choose_events(t);
	return err;
}

/* A description of its own: O_NONBLOCK must not reach other users of it. */
static int open_outer(const bool is_terminal[3])
{
	int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	int outer = open("/dev/tty", flags);
	char link[32];

	for (int fd = 0; fd < 3 && outer < 0; fd++) {
		if (!is_terminal[fd])
			continue;
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		outer = open(link, flags);
	}
	return outer < 0 ? -errno : outer;
}

static bool is_pipe(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

int terminal_start(struct supervisor *sup, int master,
		   const bool is_terminal[3])
{
	struct terminal *t = calloc(1, sizeof(*t));
	int flags = fcntl(master, F_GETFL);

	if (!t)
		return -ENOMEM;
	sup->terminal = t; /* lives as long as the process */
	t->sup = sup;
	t->master = master;
	t->outer = open_outer(is_terminal);
	if (t->outer < 0)
		return t->outer;
	if (fcntl(master, F_SETFL, flags | O_NONBLOCK) ||
	    tcgetattr(t->outer, &t->cooked) ||
	    tcsetattr(master, TCSANOW, &t->cooked))
		return -errno;
	t->reads = is_terminal[1] || !is_pipe(STDOUT_FILENO);
	t->keeps_output_modes = !is_terminal[1];
	t->outer_source = (struct loop_source){ .fd = t->outer,
						.ready = on_outer,
						.owner = t };
	t->master_source = (struct loop_source){ .fd = master,
						 .ready = on_master,
						 .owner = t };
	copy_size(t);
	if (on_exit(set_cooked_at_exit, t))
		return -ENOMEM;
	set_raw(t);
	return start_relaying(t);
}

void terminal_changed(struct supervisor *sup)
{
	struct terminal *t = sup->terminal;

	if (!t)
		return;
	copy_size(t);
	set_raw(t);
	choose_events(t);
}

void terminal_pause(struct supervisor *sup)
{
	if (sup->terminal)
		set_cooked(sup->terminal);
}

bool terminal_is_raw(const struct supervisor *sup)
{
	return sup->terminal && sup->terminal->raw &&
	       !sup->terminal->keeps_output_modes;
}

/* Questions */

bool terminal_keep_line(struct supervisor *sup, const char *line, size_t length)
{
	struct terminal *t = sup->terminal;

	if (!t || !t->held || !isatty(STDERR_FILENO))
		return false;
	/* What does not fit is in the record all the same. */
	if (length <= sizeof(t->kept) - t->kept_length) {
		memcpy(t->kept + t->kept_length, line, length);
		t->kept_length += length;
	}
	return true;
}

static void write_kept_lines(struct terminal *t)
{
	write_all(STDERR_FILENO, t->kept, t->kept_length);
	t->kept_length = 0;
}

static void send_held(struct supervisor *sup)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "held");
	json_close_object(&w);
	broker_send(sup, &w);
}

void terminal_hold(struct supervisor *sup)
{
	struct terminal *t = sup->terminal;

	if (t && !t->held) {
		/* What is typed before the question is seen is no answer. */
		(void)tcflush(t->outer, TCIFLUSH);
		set_cooked(t);
		t->held = true;
		loop_remove(&sup->loop, &t->outer_source);
		loop_remove(&sup->loop, &t->master_source);
	}
	send_held(sup);
}

void terminal_resume(struct supervisor *sup)
{
	struct terminal *t = sup->terminal;

	if (!t || !t->held)
		return;
	/* What was typed for the question is nothing for the program. */
	(void)tcflush(t->outer, TCIFLUSH);
	t->held = false;
	write_kept_lines(t);
	set_raw(t);
	copy_size(t);
	if (start_relaying(t))
		stop_run(sup, "internal");
}

void terminal_finish(struct supervisor *sup)
{
	struct terminal *t = sup->terminal;
	struct pollfd ready;

	if (!t)
		return;
	/* The line of a question that is over with the run. */
	if (t->held)
		write_all(t->outer, "\n", 1);
	write_kept_lines(t);
	ready = (struct pollfd){ .fd = t->outer, .events = POLLOUT };
	/* No slave is open any more: EIO behind the last byte, pty(7). */
	do {
		transmit(&t->out, t->outer);
		receive(&t->out, t->master);
	} while (is_pending(&t->out) && poll(&ready, 1, FINISH_WAIT_MS) == 1);
	loop_remove(&sup->loop, &t->outer_source);
	loop_remove(&sup->loop, &t->master_source);
	set_cooked(t);
}
