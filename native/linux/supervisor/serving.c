/*
 * Serves callers, see serving.h. A stream socket that is already made can only
 * be connected to a listener. Ours has a path of the host's for the moment of
 * its making and none afterwards: it is reached by the descriptor of its file,
 * by nobody else. Connecting and accepting are one step under a lock, so that
 * what is accepted is what was connected.
 */
#include "serving.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../common/limits.h"
#include "thread.h"

struct serving {
	pthread_mutex_t lock;
	unsigned counts[2]; /* of threads that serve, by kind */
	int listener;	    /* -1: not made yet */
	int file;	    /* of the listener's path, O_PATH */
};

int serving_start(struct supervisor *sup)
{
	struct serving *serving = calloc(1, sizeof(*serving));

	if (!serving)
		return -ENOMEM;
	serving->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	serving->listener = serving->file = -1;
	sup->serving = serving;
	return 0;
}

/* Listens only once the path is gone: nobody else can have connected. */
static int bind_and_listen(struct serving *serving,
			   const struct sockaddr_un *address)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_CLOSE int file = -1;

	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		return -errno;
	file = open(address->sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	(void)unlink(address->sun_path);
	if (file < 0 || listen(fd, 1))
		return -errno;
	serving->listener = TAKE(fd);
	serving->file = TAKE(file);
	return 0;
}

static int listen_in(struct serving *serving, const char *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length;
	int err;

	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "%s/cordon-XXXXXX", place);
	if (!mkdtemp(address.sun_path))
		return -errno;
	length = strlen(address.sun_path);
	(void)snprintf(address.sun_path + length,
		       sizeof(address.sun_path) - length, "/s");
	err = bind_and_listen(serving, &address);
	address.sun_path[length] = '\0';
	(void)rmdir(address.sun_path);
	return err;
}

static int start_listening(struct serving *serving)
{
	/* Where each user can make a folder that nobody else removes. */
	static const char *const places[] = { "/tmp", "/dev/shm" };
	int err = -ENOENT;

	for (size_t i = 0; err && i < ARRAY_SIZE(places); i++)
		err = listen_in(serving, places[i]);
	return err;
}

static int connect_and_accept(const struct serving *serving, int socket,
			      int *ret_other_end)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "/proc/self/fd/%d", serving->file);
	if (connect(socket, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	fd = RETRY(accept4(serving->listener, NULL, NULL, SOCK_CLOEXEC));
	if (fd < 0)
		return -errno;
	*ret_other_end = fd;
	return 0;
}

static const unsigned limits[] = {
	[SERVED_AGENT] = SERVED_MAX,
	[SERVED_REQUEST] = REQUESTS_MAX,
};

/* With the caller's socket joined to served->program. */
static int join_caller(struct serving *serving, int socket,
		       struct served *served)
{
	int err = 0;

	(void)pthread_mutex_lock(&serving->lock);
	if (serving->counts[served->kind] == limits[served->kind])
		err = -EAGAIN; /* as of a full listener: unix(7) */
	if (!err && serving->listener < 0)
		err = start_listening(serving);
	if (!err)
		err = connect_and_accept(serving, socket, &served->program);
	if (!err)
		serving->counts[served->kind]++;
	(void)pthread_mutex_unlock(&serving->lock);
	return err;
}

static void end_serving(struct served *served)
{
	struct serving *serving = served->sup->serving;
	enum served_kind kind = served->kind;

	close_quietly(served->program);
	close_quietly(served->outer);
	free(served);
	(void)pthread_mutex_lock(&serving->lock);
	serving->counts[kind]--;
	(void)pthread_mutex_unlock(&serving->lock);
}

static void *serve(void *argument)
{
	struct served *served = argument;

	served->serve(served);
	end_serving(served);
	return NULL;
}

int serve_caller(const struct call *call, int socket,
		 const struct served *wanted)
{
	struct served *served = malloc(sizeof(*served));
	int err;

	if (!served) {
		close_quietly(wanted->outer);
		return -ENOMEM;
	}
	*served = *wanted;
	served->sup = call->sup;
	served->thread = call->thread;
	err = join_caller(call->sup->serving, socket, served);
	if (err) {
		close_quietly(served->outer);
		free(served);
		return err;
	}
	err = start_thread(serve, served, CALL_STACK_BYTES);
	if (err)
		end_serving(served); /* the caller is connected, and hung up */
	return 0;
}

bool is_served(const void *served)
{
	struct pollfd program = {
		.fd = ((const struct served *)served)->program,
	};

	return poll(&program, 1, 0) == 0;
}
