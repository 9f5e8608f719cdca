/*
 * Receives calls and answers them. One thread waits for the next call; the
 * one that has received a call answers it itself, which may take until a
 * person said something, and first sees to it that another one waits. So a
 * call is never handed over, and none waits behind a question. The threads
 * start with the first call: most runs have none.
 *
 * The number of threads is bounded. The last one waits for nothing: what needs
 * that it refuses.
 */
#include "notify.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "../../common/limits.h"
#include "../files/files.h"
#include "../launch/caps.h"
#include "../network/network.h"
#include "nesting.h"
#include "thread.h"

enum { IDLE_MAX = 4 /* threads that wait for a call */ };

struct notify {
	struct supervisor *sup;
	struct bound_sockets *bound;
	struct loop_source first_call;
	size_t request_size, response_size;

	pthread_mutex_t lock;
	unsigned threads, idle;

	pthread_mutex_t network_lock;
	bool has_network;
};

bool call_is_alive(const struct call *call)
{
	uint64_t id = call->id;

	return ioctl(call->sup->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) ==
	       0;
}

struct bound_sockets *notify_bound(struct supervisor *sup)
{
	return sup->notify->bound;
}

/* Its caller may have died meanwhile; then nobody is there to be told. */
static void respond(const struct call *call, struct seccomp_notif_resp response)
{
	memset(call->response, 0, call->sup->notify->response_size);
	memcpy(call->response, &response, sizeof(response));
	(void)ioctl(call->sup->listener, SECCOMP_IOCTL_NOTIF_SEND,
		    call->response);
}

void call_answer(const struct call *call, int err)
{
	respond(call,
		(struct seccomp_notif_resp){ .id = call->id, .error = err });
}

void call_return(const struct call *call, long result)
{
	respond(call,
		(struct seccomp_notif_resp){ .id = call->id, .val = result });
}

void call_continue(const struct call *call)
{
	respond(call, (struct seccomp_notif_resp){
			      .id = call->id,
			      .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE });
}

/* The network is set up when it is first needed, on the loop's thread. */

struct network_needed {
	struct message message; /* first */
	struct supervisor *sup;
	sem_t done;
};

static void deliver_network_needed(struct message *message)
{
	struct network_needed *needed = (struct network_needed *)message;

	/* When it fails that was said, and the calls fail by themselves. */
	(void)!network_begin(needed->sup);
	(void)sem_post(&needed->done);
}

static void begin_network(struct supervisor *sup)
{
	struct notify *notify = sup->notify;
	struct network_needed needed = {
		.message.deliver = deliver_network_needed,
		.sup = sup,
	};

	(void)pthread_mutex_lock(&notify->network_lock);
	if (!notify->has_network) {
		(void)sem_init(&needed.done, 0, 0);
		mailbox_post(&sup->mailbox, &needed.message);
		(void)RETRY(sem_wait(&needed.done));
		(void)sem_destroy(&needed.done);
		notify->has_network = true;
	}
	(void)pthread_mutex_unlock(&notify->network_lock);
}

static bool is_network_call(const struct call *call)
{
	return call->number == SYS_socket || call->number == SYS_connect ||
	       call->number == SYS_bind || call->number == SYS_listen;
}

static int answer_call(const struct call *call)
{
	if (is_network_call(call))
		begin_network(call->sup);
	switch (call->number) {
	case SYS_socket:
		/* Numbers only; held so that the network is there by now. */
		call_continue(call);
		return CALL_ANSWERED;
	case SYS_connect:
		return answer_connect(call);
	case SYS_bind:
		return answer_bind(call);
	case SYS_listen:
		return answer_listen(call);
	default:
		if (is_nesting_call(call))
			return answer_nesting_call(call);
		return answer_file_call(call);
	}
}

/* By the thread that must stay free for the next call. */
static void answer_at_once(struct call *call)
{
	int err;

	call->must_not_wait = true;
	if (is_network_call(call)) {
		call_answer(call, -EAGAIN);
		report_limit(call);
		return;
	}
	err = answer_call(call);
	if (err != CALL_ANSWERED)
		call_answer(call, err);
}

/* 1: *ret_call is one. 0: none this time. -errno: there will be none. */
static int receive_call(struct notify *notify, void *buffer,
			struct call *ret_call)
{
	struct pollfd listener = { .fd = notify->sup->listener };
	struct seccomp_notif request;

	memset(buffer, 0, notify->request_size);
	if (ioctl(listener.fd, SECCOMP_IOCTL_NOTIF_RECV, buffer) == 0) {
		memcpy(&request, buffer, sizeof(request));
		*ret_call = (struct call){
			.sup = notify->sup,
			.id = request.id,
			.thread = (pid_t)request.pid,
			.number = request.data.nr,
		};
		for (size_t i = 0; i < ARRAY_SIZE(ret_call->arguments); i++)
			ret_call->arguments[i] = request.data.args[i];
		return 1;
	}
	/* ENOENT: the caller died before; or all did, then for ever. */
	if (errno != EINTR && errno != ENOENT)
		return -errno;
	if (poll(&listener, 1, 0) == 1 && listener.revents & POLLHUP)
		return -ENOENT;
	return 0;
}

static int start_receiver(struct notify *notify);

/*
 * Before a call is answered: another thread must wait for the next one.
 * false: there can be none, so this one must not be kept by its call.
 */
static bool leave_receiver(struct notify *notify)
{
	bool waits;

	(void)pthread_mutex_lock(&notify->lock);
	notify->idle--;
	waits = notify->idle > 0;
	if (!waits && notify->threads <= CALLS_MAX)
		waits = start_receiver(notify) == 0;
	if (!waits)
		notify->idle++;
	(void)pthread_mutex_unlock(&notify->lock);
	return waits;
}

/* After the answer; false: enough others wait. */
static bool become_receiver(struct notify *notify)
{
	bool wanted;

	(void)pthread_mutex_lock(&notify->lock);
	wanted = notify->idle < IDLE_MAX;
	if (wanted)
		notify->idle++;
	else
		notify->threads--;
	(void)pthread_mutex_unlock(&notify->lock);
	return wanted;
}

static void *answer_calls(void *argument)
{
	struct notify *notify = argument;
	AUTO_FREE void *request = malloc(notify->request_size);
	AUTO_FREE void *response = malloc(notify->response_size);
	struct call call;
	int result, err;

	/* A call that nobody answers would wait for ever. */
	if (!request || !response || drop_own_capabilities())
		abort();
	while ((result = receive_call(notify, request, &call)) >= 0) {
		if (result == 0)
			continue;
		call.response = response;
		if (!leave_receiver(notify)) {
			answer_at_once(&call);
			continue;
		}
		err = answer_call(&call);
		if (err != CALL_ANSWERED)
			call_answer(&call, err);
		if (!become_receiver(notify))
			return NULL;
	}
	return NULL;
}

/* With the lock held. */
static int start_receiver(struct notify *notify)
{
	int err = start_thread(answer_calls, notify, CALL_STACK_BYTES);

	if (!err) {
		notify->threads++;
		notify->idle++;
	}
	return err;
}

static void start_receiving(void *owner, uint32_t events)
{
	struct notify *notify = owner;
	int err;

	loop_remove(&notify->sup->loop, &notify->first_call);
	if (!(events & EPOLLIN))
		return; /* the last task has ended */
	(void)pthread_mutex_lock(&notify->lock);
	err = start_receiver(notify);
	(void)pthread_mutex_unlock(&notify->lock);
	if (err)
		stop_run(notify->sup, "internal");
}

int notify_start(struct supervisor *sup)
{
	struct notify *notify = calloc(1, sizeof(*notify));
	struct seccomp_notif_sizes sizes;
	int err;

	if (!notify)
		return -ENOMEM;
	/* The kernel's structures may have grown since ours were compiled. */
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes)) {
		err = -errno;
		goto fail;
	}
	notify->sup = sup;
	notify->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	notify->network_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	notify->request_size = sizes.seccomp_notif;
	if (notify->request_size < sizeof(struct seccomp_notif))
		notify->request_size = sizeof(struct seccomp_notif);
	notify->response_size = sizes.seccomp_notif_resp;
	if (notify->response_size < sizeof(struct seccomp_notif_resp))
		notify->response_size = sizeof(struct seccomp_notif_resp);
	notify->first_call = (struct loop_source){
		.fd = sup->listener,
		.ready = start_receiving,
		.owner = notify,
	};
	err = bound_open(&notify->bound);
	if (!err)
		err = loop_add(&sup->loop, &notify->first_call, EPOLLIN);
	if (err)
		goto fail;
	sup->notify = notify;
	return 0;
fail:
	free(notify);
	return err;
}
