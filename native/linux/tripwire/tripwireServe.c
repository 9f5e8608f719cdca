/*
 * Answers the kernel's requests to the tripwires' file system, one by one.
 * All but opening a file is free, and is answered on the spot.
 */
#include <string.h>
#include <sys/uio.h>

#include "tripwireService.h"

enum {
	/* The protocol whose structures we send; Linux 5.5. */
	FUSE_MINOR = 31,
	WRITE_MAX = 4096, /* the least there is; nothing is written */
};

void reply(struct tripwires *tw, uint64_t unique, int err, const void *data,
	   size_t length)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + (err ? 0 : length)),
		.error = err,
		.unique = unique,
	};
	union {
		const void *read;
		void *written; /* struct iovec knows no const */
	} content = { .read = data };
	struct iovec parts[] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = content.written, .iov_len = length },
	};

	/* ENOENT: it was interrupted, nobody waits for this answer. */
	(void)!writev(tw->device, parts, err || length == 0 ? 1 : 2);
}

void reply_error(struct tripwires *tw, const struct request *request, int err)
{
	reply(tw, request->header->unique, err, NULL, 0);
}

static void initialise(struct tripwires *tw, const struct request *request)
{
	static const uint32_t wanted =
		FUSE_ASYNC_READ | FUSE_AUTO_INVAL_DATA | FUSE_PARALLEL_DIROPS |
		FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO;
	struct fuse_init_in in;
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_MINOR,
		.max_write = WRITE_MAX,
		.max_background = 64,
		.congestion_threshold = 48,
		.time_gran = 1,
	};

	memset(&in, 0, sizeof(in));
	memcpy(&in, request->body,
	       request->length < sizeof(in) ? request->length : sizeof(in));
	out.flags = wanted & in.flags;
	out.max_readahead = in.max_readahead;
	reply(tw, request->header->unique, 0, &out, sizeof(out));
}

static void forget_one(struct tripwires *tw, const struct request *request)
{
	struct fuse_forget_in in;

	memcpy(&in, request->body, sizeof(in));
	nodes_forget(&tw->nodes, request->header->nodeid, in.nlookup);
}

static void forget_many(struct tripwires *tw, const struct request *request)
{
	struct fuse_batch_forget_in in;
	struct fuse_forget_one one;
	size_t at = sizeof(in);

	memcpy(&in, request->body, sizeof(in));
	for (uint32_t i = 0; i < in.count; i++, at += sizeof(one)) {
		if (at + sizeof(one) > request->length)
			return;
		memcpy(&one, request->body + at, sizeof(one));
		nodes_forget(&tw->nodes, one.nodeid, one.nlookup);
	}
}

static void interrupt(struct tripwires *tw, const struct request *request)
{
	struct fuse_interrupt_in in;

	memcpy(&in, request->body, sizeof(in));
	held_interrupt(tw, in.unique);
}

/* Answered on the spot, but for what is held; some are not answered at all. */
struct operation {
	void (*serve)(struct tripwires *tw, const struct request *request);
	size_t body_min;
	bool needs_node;
};

static const struct operation operations[] = {
	[FUSE_LOOKUP] = { fuse_look_up, 1, true },
	[FUSE_FORGET] = { forget_one, sizeof(struct fuse_forget_in), false },
	[FUSE_GETATTR] = { fuse_get_attributes, sizeof(struct fuse_getattr_in),
			   true },
	[FUSE_READLINK] = { fuse_read_link, 0, true },
	[FUSE_OPEN] = { fuse_open_file, sizeof(struct fuse_open_in), true },
	[FUSE_READ] = { fuse_read_file, sizeof(struct fuse_read_in), true },
	[FUSE_STATFS] = { fuse_get_file_system, 0, true },
	[FUSE_RELEASE] = { fuse_release, sizeof(struct fuse_release_in),
			   false },
	[FUSE_INIT] = { initialise, 2 * sizeof(uint32_t), false },
	[FUSE_OPENDIR] = { fuse_open_folder, 0, true },
	[FUSE_READDIR] = { fuse_list_folder, sizeof(struct fuse_read_in),
			   true },
	[FUSE_RELEASEDIR] = { fuse_release, sizeof(struct fuse_release_in),
			      false },
	[FUSE_ACCESS] = { fuse_check_access, sizeof(struct fuse_access_in),
			  true },
	[FUSE_INTERRUPT] = { interrupt, sizeof(struct fuse_interrupt_in),
			     false },
	[FUSE_READDIRPLUS] = { fuse_list_folder, sizeof(struct fuse_read_in),
			       true },
	[FUSE_BATCH_FORGET] = { forget_many,
				sizeof(struct fuse_batch_forget_in), false },
};

void serve_request(struct tripwires *tw, size_t length)
{
	struct fuse_in_header header;
	struct request request = { .header = &header };
	const struct operation *operation;

	if (length < sizeof(header))
		return;
	memcpy(&header, tw->request, sizeof(header));
	request.body = tw->request + sizeof(header);
	request.length = length - sizeof(header);
	request.node = nodes_find(&tw->nodes, header.nodeid);
	operation = header.opcode < ARRAY_SIZE(operations)
			    ? &operations[header.opcode]
			    : NULL;
	/*
	 * ENOSYS: the kernel goes without from then on: extended attributes
	 * (EOPNOTSUPP), holes, polling, ioctl(2).
	 */
	if (!operation || !operation->serve)
		reply_error(tw, &request, -ENOSYS);
	else if (request.length < operation->body_min)
		reply_error(tw, &request, -EIO);
	else if (operation->needs_node && !request.node)
		reply_error(tw, &request, -ESTALE);
	else
		operation->serve(tw, &request);
}
