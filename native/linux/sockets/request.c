/*
 * Requests from inside, see request.h. What is open already, or closed by a
 * rule, is told at once; everything else is a question, all of a request's at
 * the same time. A client that says nothing, too much, or what is no frame is
 * hung up on; one that leaves takes its questions with it.
 */
#include "request.h"

#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/un.h>

#include "../../common/frame.h"
#include "../supervisor/serving.h"
#include "../supervisor/thread.h"
#include "requestWish.h"

static const char request_name[] = "\0cordon.request";

/* One wish on its way to an answer. */
struct wishing {
	const struct served *served;
	const char *because;
	struct wish wish;
	struct wish_result result;
	sem_t *answered;
};

bool is_request_name(const struct socket_address *address)
{
	static const size_t before = offsetof(struct sockaddr_un, sun_path);
	const char *name = (const char *)&address->storage + before;
	size_t length = sizeof(request_name) - 1;

	if (address->length < before + length ||
	    address->length > sizeof(struct sockaddr_un) ||
	    address->any.sa_family != AF_UNIX ||
	    memcmp(name, request_name, length) != 0)
		return false;
	/* Some libraries fill what is left with zeros, as Node's does. */
	for (size_t at = length; at < address->length - before; at++)
		if (name[at] != '\0')
			return false;
	return true;
}

static void *wish_on_thread(void *argument)
{
	struct wishing *wishing = argument;

	wishing->result =
		grant_wish(wishing->served, &wishing->wish, wishing->because);
	(void)sem_post(wishing->answered);
	return NULL;
}

/* Each on a thread, so that a person sees all questions together. */
static int grant_all(struct wishing *wishes, size_t count)
{
	sem_t answered;

	if (sem_init(&answered, 0, 0))
		return -errno;
	for (size_t i = 0; i < count; i++) {
		wishes[i].answered = &answered;
		if (start_thread(wish_on_thread, &wishes[i], CALL_STACK_BYTES))
			(void)wish_on_thread(&wishes[i]); /* then in turn */
	}
	for (size_t i = 0; i < count; i++)
		(void)RETRY(sem_wait(&answered));
	(void)sem_destroy(&answered);
	return 0;
}

static void write_results(struct json_writer *w, const struct wishing *wishes,
			  size_t count)
{
	json_open_frame(w, "decision");
	json_key(w, "results");
	json_open_array(w);
	for (size_t i = 0; i < count; i++) {
		json_open_object(w);
		json_member_string(w, "effect",
				   wishes[i].result.allowed ? "allow" : "deny");
		json_member_string(w, "reason",
				   reason_name(wishes[i].result.reason));
		json_key(w, "message");
		json_null(w); /* a broker's words went to the terminal */
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static void refuse_frame(struct frame_channel *channel)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "error");
	json_member_string(&w, "code", "malformedFrame");
	json_member_string(&w, "message", "not a request as it should be");
	json_close_object(&w);
	(void)!frame_send(channel, &w); /* heard or not, that is all */
}

static int parse_request(const struct json *frame, struct wishing *wishes,
			 size_t *ret_count, const char **ret_because)
{
	static const char *const keys[] = { "kind", "want", "because" };
	const char *kind = json_as_string(json_member(frame, "kind"));
	const char *because = json_as_string(json_member(frame, "because"));
	const struct json *want = json_member(frame, "want");
	size_t count = 0;
	int err;

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)) || !kind ||
	    strcmp(kind, "request") != 0 || !because ||
	    strlen(because) > REQUEST_BECAUSE_MAX || want->type != JSON_ARRAY ||
	    want->length == 0 || want->length > REQUEST_WISHES_MAX)
		return -EBADMSG;
	for (const struct json *entry = want->first; entry;
	     entry = entry->next) {
		err = parse_wish(entry, &wishes[count++].wish);
		if (err)
			return err;
	}
	*ret_count = count;
	*ret_because = because;
	return 0;
}

static int answer_request(const struct served *served,
			  struct frame_channel *channel, char *text,
			  size_t length)
{
	AUTO_ARENA struct json_arena arena = { 0 };
	AUTO_WRITER struct json_writer w = { 0 };
	struct wishing wishes[REQUEST_WISHES_MAX] = { 0 };
	const struct json *frame;
	const char *because;
	size_t count;
	int err = json_parse(text, length, &arena, &frame);

	if (!err)
		err = parse_request(frame, wishes, &count, &because);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		wishes[i].served = served;
		wishes[i].because = because;
	}
	err = grant_all(wishes, count);
	if (err)
		return err;
	write_results(&w, wishes, count);
	return frame_send(channel, &w);
}

static void serve_request(const struct served *served)
{
	struct frame_channel channel;
	/* The channel closes its own. */
	int fd = fcntl(served->program, F_DUPFD_CLOEXEC, 0);
	size_t length;
	char *text;
	int err;

	if (fd < 0)
		return;
	frame_open(&channel, fd, REQUEST_FRAME_MAX);
	err = frame_read_wait(&channel, REQUEST_MS, &text, &length);
	if (err > 0)
		err = answer_request(served, &channel, text, length);
	if (err == -EBADMSG || err == -E2BIG)
		refuse_frame(&channel);
	(void)!frame_flush_wait(&channel, REQUEST_MS);
	frame_close(&channel);
}

int request_connect(const struct call *call, const struct target_socket *socket)
{
	struct served served = {
		.kind = SERVED_REQUEST,
		.serve = serve_request,
		.outer = -1,
	};

	return serve_caller(call, socket->fd, &served);
}
