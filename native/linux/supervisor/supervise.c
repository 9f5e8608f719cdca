/*
 * The parent's part of a run, see supervise.h: takes over what the child
 * made, starts the parts of the supervisor, says go, and passes the end on.
 */
#include "supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../common/limits.h"
#include "../files/files.h"
#include "../launch/init.h"
#include "../tripwire/tripwire.h"
#include "denial.h"
#include "opening.h"
#include "opens.h"
#include "signals.h"
#include "terminal.h"

void add_gap(struct supervisor *sup, const char *promise, const char *reason)
{
	if (sup->gap_count < GAPS_MAX)
		sup->gaps[sup->gap_count++] =
			(struct gap){ .promise = promise, .reason = reason };
}

static void add_gaps(struct supervisor *sup, int gaps)
{
	for (int bit = 1; bit <= GAP_LAST; bit <<= 1) {
		struct gap gap = describe_gap(bit);

		if (gaps & bit)
			add_gap(sup, gap.promise, gap.reason);
	}
}

static void start_tripwires(struct supervisor *sup,
			    const struct handed_device *device)
{
	int err = tripwire_start(sup, device);

	if (err)
		die("tripwires", -err, "could not serve the closed places");
}

static void take_hand_over(struct supervisor *sup, struct hand_over *given)
{
	AUTO_WRITER struct json_writer w = { 0 };
	static char error[2 * PATH_BYTES_MAX + 1024];
	struct handed_device device;
	size_t length = 0;
	int err;

	do {
		tripwire_answer_until(sup, sup->control);
		err = receive_hand_over(sup->control, given, &device, error,
					sizeof(error), &length);
		if (err == 1)
			start_tripwires(sup, &device);
	} while (err == 1);
	if (!err)
		return;
	if (err == -EPROTO && length > 4) {
		/* The child has printed it; the broker gets its frame. */
		w.text = error + 4;
		w.length = length - 4;
		if (frame_send(&sup->channel, &w) == 0)
			(void)!frame_flush_wait(&sup->channel, PLAN_WAIT_MS);
		w = (struct json_writer){ 0 };
		exit(EXIT_SET_UP);
	}
	die("hand-over", err == -EPROTO ? 0 : -err,
	    "the sandbox ended while it was being set up");
}

static void send_ready(struct supervisor *sup)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "ready");
	json_member_string(&w, "run", sup->plan->run);
	json_member_integer(&w, "init", sup->init);
	json_key(&w, "gaps");
	json_open_array(&w);
	for (size_t i = 0; i < sup->gap_count; i++) {
		json_open_object(&w);
		json_member_string(&w, "promise", sup->gaps[i].promise);
		json_member_string(&w, "reason", sup->gaps[i].reason);
		json_close_object(&w);
	}
	json_close_array(&w);
	json_close_object(&w);
	broker_send(sup, &w);
}

static void send_exit(struct supervisor *sup)
{
	AUTO_WRITER struct json_writer w = { 0 };
	bool signalled = WIFSIGNALED(sup->status);

	json_open_frame(&w, "exit");
	json_key(&w, "status");
	json_open_object(&w);
	json_member_integer(&w, signalled ? "signalled" : "exited",
			    signalled ? WTERMSIG(sup->status)
				      : WEXITSTATUS(sup->status));
	json_close_object(&w);
	json_close_object(&w);
	broker_send(sup, &w);
}

void print_line(struct supervisor *sup, const char *text)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[4096];
	size_t length = strnlen(text, sizeof(line) - 2);

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		line[i] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
	}
	if (terminal_is_raw(sup))
		line[length++] = '\r';
	line[length++] = '\n';
	if (terminal_keep_line(sup, line, length))
		return;
	/* A reader that is slow must not stop the supervisor. */
	if (poll(&ready, 1, 0) == 1)
		write_all(STDERR_FILENO, line, length);
}

static void print_not_started(struct supervisor *sup, int err)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "cordon: could not run %s: %s",
		       sup->arguments[0], strerror(err));
	print_line(sup, line);
}

static void on_control(void *owner, uint32_t events)
{
	struct supervisor *sup = owner;
	struct control_message message = { 0 };

	(void)events;
	while (RETRY(recv(sup->control, &message, sizeof(message),
			  MSG_DONTWAIT)) == sizeof(message)) {
		switch (message.kind) {
		case CONTROL_NOT_STARTED:
			print_not_started(sup, message.value);
			break;
		case CONTROL_STOPPED:
			follow_stop(sup);
			break;
		case CONTROL_ENDED:
			sup->exited = true;
			sup->status = message.value;
			break;
		case CONTROL_GO:
		case CONTROL_SIGNAL:
		case CONTROL_GROUP_SIGNAL:
		case CONTROL_DEVICE:
		case CONTROL_HANDED_OVER:
			break; /* not said by init */
		}
	}
	/* Its end is closed: init_source tells the rest. */
	if (events & EPOLLHUP)
		loop_remove(&sup->loop, &sup->control_source);
}

/* Pid 1 is gone, and with it everything inside. */
static void on_init_end(void *owner, uint32_t events)
{
	struct supervisor *sup = owner;
	int status = 0;

	on_control(sup, events & ~(uint32_t)EPOLLHUP);
	(void)RETRY(waitpid(sup->init, &status, 0));
	if (!sup->exited) {
		sup->exited = true;
		sup->status = status; /* killed: by stop_run() or for memory */
	}
	loop_end(&sup->loop);
}

static void kill_run(void *owner)
{
	struct supervisor *sup = owner;

	(void)pidfd_send_signal(sup->init_pidfd, SIGKILL, NULL, 0);
}

void stop_run(struct supervisor *sup, const char *reason)
{
	(void)reason; /* the broker knows its own */
	if (sup->stopping || sup->exited)
		return;
	sup->stopping = true;
	(void)!send_control(sup->control, CONTROL_SIGNAL, SIGTERM);
	/* A stopped command takes no signal before it goes on. */
	(void)!send_control(sup->control, CONTROL_GROUP_SIGNAL, SIGCONT);
	sup->stop_timer.due = kill_run;
	sup->stop_timer.owner = sup;
	loop_arm(&sup->loop, &sup->stop_timer, STOP_GRACE_MS);
}

static int watch(struct supervisor *sup, struct loop_source *source, int fd,
		 void (*ready)(void *owner, uint32_t events))
{
	*source =
		(struct loop_source){ .fd = fd, .ready = ready, .owner = sup };
	return loop_add(&sup->loop, source, EPOLLIN);
}

/* Pid 1 makes itself unreadable after "go", proc(5). */
static void open_inside(struct supervisor *sup)
{
	const struct {
		const char *name;
		int *fd;
	} links[] = {
		{ "ns/user", &sup->inside.user },
		{ "ns/mnt", &sup->inside.mount },
		{ "ns/pid", &sup->inside.pid },
		{ "ns/ipc", &sup->inside.ipc },
		{ "ns/net", &sup->inside.net },
		{ "mountinfo", &sup->inside.mountinfo },
	};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", sup->init,
			       links[i].name);
		*links[i].fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*links[i].fd < 0)
			die("supervisor", errno, "could not open %s", path);
	}
}

static void start_parts(struct supervisor *sup, const struct hand_over *given,
			const bool is_terminal[3])
{
	int err = loop_open(&sup->loop);

	if (!err)
		err = mailbox_open(&sup->mailbox, &sup->loop);
	if (!err)
		err = denials_start(sup);
	if (!err)
		err = signals_start(sup);
	if (!err)
		err = watch(sup, &sup->control_source, sup->control,
			    on_control);
	if (!err)
		err = watch(sup, &sup->init_source, sup->init_pidfd,
			    on_init_end);
	if (!err)
		err = network_start(sup);
	if (!err && sup->listener >= 0)
		err = files_start(sup);
	if (!err)
		err = opens_start(sup);
	if (!err && sup->listener >= 0)
		err = notify_start(sup);
	if (!err)
		err = broker_start(sup);
	if (!err)
		err = tripwire_watch(sup);
	if (!err)
		err = opening_start(sup);
	if (!err && given->terminal >= 0)
		err = terminal_start(sup, given->terminal, is_terminal);
	if (err)
		die("supervisor", -err, "could not start the supervisor");
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

void supervise(struct supervisor *sup, const bool is_terminal[3])
{
	struct hand_over given;
	int err;

	take_hand_over(sup, &given);
	add_gaps(sup, given.gaps);
	open_inside(sup);
	sup->root = given.root;
	sup->listener = given.listener;
	start_parts(sup, &given, is_terminal);
	sup->welcomed = true;
	send_ready(sup);
	/* From here on the command runs; errors end the run, not the set-up. */
	die_reports_to(-1);
	err = send_control(sup->control, CONTROL_GO, 0);
	if (!err)
		err = loop_run(&sup->loop);
	if (err)
		die("supervisor", -err, "the supervisor broke");
	opening_finish(sup);
	network_finish(sup, RELAY_GRACE_MS);
	terminal_finish(sup);
	restore_foreground();
	send_exit(sup);
	broker_finish(sup);
	exit(exit_code(sup->status));
}
