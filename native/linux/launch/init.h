/*
 * Pid 1 of the sandbox, and what it and the launcher say to each other on
 * the control socket (SOCK_SEQPACKET; a longer message is an error frame of
 * die()).
 */
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "../supervisor/supervisor.h"

enum control_kind {
	/* to init */
	CONTROL_GO,	      /* the supervisor is ready: start the command */
	CONTROL_SIGNAL,	      /* value: a signal for the command */
	CONTROL_GROUP_SIGNAL, /* the same, as a terminal sends it */
	/* from init */
	CONTROL_DEVICE, /* with the tripwires' device; value: minor of st_dev */
	CONTROL_HANDED_OVER, /* with descriptors; value: struct hand_over.gaps
			      */
	CONTROL_NOT_STARTED, /* value: errno of execve */
	CONTROL_STOPPED,     /* value: signal; the command, by job control */
	CONTROL_ENDED,	     /* value: wait status of the command */
};

struct control_message {
	enum control_kind kind;
	int value;
};

/* Everything that the child hands over; -1 is left out and arrives as -1. */
struct hand_over {
	int gaps; /* GAP_… */
	int root;
	int listener;
	int terminal; /* master of the command's own terminal */
};

/* The tripwires' file system. */
struct handed_device {
	int fd;
	int root;   /* O_PATH, of the whole */
	int number; /* minor of st_dev */
};

MUST_CHECK int send_control(int control, enum control_kind kind, int value);
MUST_CHECK int send_device(int control, const struct handed_device *device);
MUST_CHECK int send_hand_over(int control, const struct hand_over *given);

/*
 * Waits for the hand-over: 0; or 1 for a device that comes before it.
 * -EPROTO: the child could not set up and has said
 * so; *ret_error then holds its error frame's JSON (*ret_length bytes).
 */
MUST_CHECK int receive_hand_over(int control, struct hand_over *ret_given,
				 struct handed_device *ret_device,
				 char *ret_error, size_t capacity,
				 size_t *ret_length);

struct command {
	char **arguments;
	char **environment;
	sigset_t mask; /* signal mask and descriptor limit as we were started */
	struct rlimit files;
	int terminal;	  /* slave of its own terminal, -1: inherited */
	bool own_session; /* without our terminal, whatever it gets instead */
	bool replaced[3]; /* standard descriptors that get that slave */
};

/*
 * Becomes pid 1: starts the command, reaps, forwards signals, tells how the
 * command ended. Everything else inside ends with it.
 */
_Noreturn void run_init(int control, const struct command *command);
