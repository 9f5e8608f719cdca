/*
 * The supervisor's side of the tripwires, see tripwire.h: the device, the
 * thread that serves it, and what other threads ask of it. During the set-up
 * the main thread serves, since mounts of the plan may lie below a tripwire.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "../../common/limits.h"
#include "../launch/init.h"
#include "../supervisor/thread.h"
#include "tripwireService.h"

static int open_pid_namespace(pid_t init)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", init);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int find_places(struct tripwires *tw)
{
	const struct plan *plan = tw->sup->plan;

	tw->places = calloc(plan->mount_count, sizeof(*tw->places));
	if (!tw->places)
		return -ENOMEM;
	for (size_t i = 0; i < plan->mount_count; i++) {
		struct place *place = &tw->places[i];

		place->folder = -1;
		if (plan->mounts[i].op != MOUNT_TRIPWIRE)
			continue;
		place->mount = &plan->mounts[i];
		for (size_t j = 0; j < plan->mount_count; j++)
			if (j != i &&
			    is_below(plan->mounts[j].path, place->mount->path))
				place->has_mounts_below = true;
	}
	return 0;
}

/* Half of our descriptors, so that a program cannot take them all. */
static size_t limit_handles(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < TRIPWIRE_HANDLES_MAX ? limit.rlim_cur / 2
							 : TRIPWIRE_HANDLES_MAX;
}

int tripwire_start(struct supervisor *sup, const struct handed_device *device)
{
	struct tripwires *tw = calloc(1, sizeof(*tw));
	int err;

	if (!tw)
		return -ENOMEM;
	tw->sup = sup;
	tw->device = device->fd;
	tw->root = device->root;
	tw->number = makedev(0, (unsigned)device->number);
	tw->handle_max = limit_handles();
	(void)pthread_mutex_init(&tw->lock, NULL);
	tw->pid_namespace = open_pid_namespace(sup->init);
	tw->request = malloc(TRIPWIRE_REQUEST_MAX);
	/* The second half is for list_host(). */
	tw->data = malloc(2 * (size_t)TRIPWIRE_READ_MAX);
	err = tw->pid_namespace < 0 ? tw->pid_namespace : 0;
	if (!err && (!tw->request || !tw->data))
		err = -ENOMEM;
	if (!err)
		err = find_places(tw);
	if (!err)
		err = nodes_open(&tw->nodes);
	if (!err)
		err = held_open(tw);
	/* Only on failure the launch ends, and all this with it. */
	sup->tripwires = tw;
	return err;
}

/* What is there; -errno: there will be nothing any more. */
static int answer_requests(struct tripwires *tw)
{
	for (;;) {
		ssize_t length =
			read(tw->device, tw->request, TRIPWIRE_REQUEST_MAX);

		if (length < 0 && errno == EAGAIN)
			return 0;
		/* It was interrupted before we had it. */
		if (length < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (length < 0)
			return -errno; /* ENODEV: mounted nowhere any more */
		(void)pthread_mutex_lock(&tw->lock);
		serve_request(tw, (size_t)length);
		(void)pthread_mutex_unlock(&tw->lock);
	}
}

void tripwire_answer_until(struct supervisor *sup, int fd)
{
	struct pollfd waiting[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = sup->tripwires ? sup->tripwires->device : -1,
		  .events = POLLIN },
	};

	while (!waiting[0].revents) {
		if (poll(waiting, ARRAY_SIZE(waiting), -1) < 0)
			continue;
		if (waiting[1].revents && answer_requests(sup->tripwires))
			waiting[1].fd = -1;
	}
}

static void *serve(void *argument)
{
	struct tripwires *tw = argument;
	struct pollfd waiting[] = {
		{ .fd = tw->device, .events = POLLIN },
		{ .fd = held_wake(tw), .events = POLLIN },
	};

	for (;;) {
		if (poll(waiting, ARRAY_SIZE(waiting), -1) < 0)
			continue;
		if (waiting[1].revents) {
			(void)pthread_mutex_lock(&tw->lock);
			held_answer(tw);
			(void)pthread_mutex_unlock(&tw->lock);
		}
		if (waiting[0].revents && answer_requests(tw))
			return NULL;
	}
}

static void begin_serving(void *owner, uint32_t events)
{
	struct tripwires *tw = owner;

	loop_remove(&tw->sup->loop, &tw->first_request);
	if (!(events & EPOLLIN))
		return; /* the last mount has gone */
	if (start_thread(serve, tw, CALL_STACK_BYTES))
		stop_run(tw->sup, "internal");
}

int tripwire_watch(struct supervisor *sup)
{
	struct tripwires *tw = sup->tripwires;
	int err;

	if (!tw)
		return 0;
	tw->has_begun = true;
	tw->first_request = (struct loop_source){
		.fd = tw->device,
		.ready = begin_serving,
		.owner = tw,
	};
	err = loop_add(&sup->loop, &tw->first_request, EPOLLIN);
	return err ? err : keep_covered(tw);
}

/* What the kernel keeps of a file, mapped or not; the next reader asks us. */
static void drop_pages(const struct tripwires *tw, uint64_t node)
{
	struct fuse_notify_inval_inode_out what = { .ino = node };
	struct fuse_out_header header = {
		.len = sizeof(header) + sizeof(what),
		.error = FUSE_NOTIFY_INVAL_INODE,
	};
	struct iovec parts[] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = &what, .iov_len = sizeof(what) },
	};

	/* ENOENT: it keeps nothing of it. */
	(void)!writev(tw->device, parts, ARRAY_SIZE(parts));
}

/* The files that are open without a grant by now. */
static size_t list_revoked(struct tripwires *tw, uint64_t **ret_nodes)
{
	uint64_t *nodes = calloc(tw->handle_count + 1, sizeof(*nodes));
	char path[PATH_BYTES_MAX];
	size_t count = 0;

	for (struct handle *handle = tw->handles; nodes && handle;
	     handle = handle->next)
		if (!handle->is_once &&
		    !node_host_path(tw, handle->node, path) &&
		    !is_covered(tw, place_of(tw, handle->node), path))
			nodes[count++] = handle->node->id;
	*ret_nodes = nodes;
	return count;
}

/*
 * Without the lock: the kernel waits for pages that are being read, which
 * needs the serving thread.
 */
void tripwire_revoked(struct supervisor *sup)
{
	struct tripwires *tw = sup->tripwires;
	AUTO_FREE uint64_t *nodes = NULL;
	size_t count;

	if (!tw)
		return;
	(void)pthread_mutex_lock(&tw->lock);
	count = list_revoked(tw, &nodes);
	(void)pthread_mutex_unlock(&tw->lock);
	for (size_t i = 0; i < count; i++)
		drop_pages(tw, nodes[i]);
}

/* A FUSE file handle: node and generation (fuse_encode_fh() in fs/fuse). */
static int find_node_id(int fd, uint64_t *ret_id)
{
	struct {
		struct file_handle head;
		uint32_t words[MAX_HANDLE_SZ / sizeof(uint32_t)];
	} handle = { .head.handle_bytes = sizeof(handle.words) };
	uint32_t words[2];
	int mount;

	if (name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH))
		return -errno;
	if (handle.head.handle_bytes < sizeof(words))
		return -ENOENT;
	memcpy(words, handle.head.f_handle, sizeof(words));
	*ret_id = (uint64_t)words[0] << 32 | words[1];
	return 0;
}

/* Neither call below asks us: else this could not be told. */
int tripwire_host_path(struct supervisor *sup, int fd,
		       char ret_path[PATH_BYTES_MAX])
{
	struct tripwires *tw = sup->tripwires;
	const struct node *node;
	struct statx status;
	uint64_t id;
	int err;

	if (!tw)
		return -ENOENT;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status))
		return -errno;
	if (makedev(status.stx_dev_major, status.stx_dev_minor) != tw->number)
		return -ENOENT;
	err = find_node_id(fd, &id);
	if (err)
		return err;
	(void)pthread_mutex_lock(&tw->lock);
	node = nodes_find(&tw->nodes, id);
	err = node ? node_host_path(tw, node, ret_path) : -ENOENT;
	(void)pthread_mutex_unlock(&tw->lock);
	return err;
}
