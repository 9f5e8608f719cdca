/* Netlink messages, see netlink.h. */
#include "netlink.h"

#include <string.h>
#include <sys/socket.h>

/* Messages and attributes are padded to four bytes, linux/netlink.h. */
static size_t aligned(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

/* Too long a batch is a bug: what is built here is of fixed length. */
static void append(struct netlink_batch *b, const void *data, size_t length)
{
	if (aligned(length) > sizeof(b->bytes) - b->length)
		abort();
	if (length)
		memcpy(b->bytes + b->length, data, length);
	b->length += aligned(length);
}

static void end_message(struct netlink_batch *b)
{
	uint32_t length = (uint32_t)(b->length - b->message);

	if (length)
		memcpy(b->bytes + b->message +
			       offsetof(struct nlmsghdr, nlmsg_len),
		       &length, sizeof(length));
	b->message = b->length;
}

void netlink_message(struct netlink_batch *b, int type, int flags,
		     const void *header, size_t length)
{
	struct nlmsghdr common = {
		.nlmsg_type = (uint16_t)type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
		.nlmsg_seq = ++b->sequence,
	};

	end_message(b);
	append(b, &common, sizeof(common));
	append(b, header, length);
}

void netlink_attribute(struct netlink_batch *b, int type, const void *data,
		       size_t length)
{
	struct nlattr attribute = {
		.nla_type = (uint16_t)type,
		.nla_len = (uint16_t)(sizeof(attribute) + length),
	};

	append(b, &attribute, sizeof(attribute));
	append(b, data, length);
}

size_t netlink_open_nest(struct netlink_batch *b, int type)
{
	size_t nest = b->length;

	netlink_attribute(b, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void netlink_close_nest(struct netlink_batch *b, size_t nest)
{
	uint16_t length = (uint16_t)(b->length - nest);

	memcpy(b->bytes + nest + offsetof(struct nlattr, nla_len), &length,
	       sizeof(length));
}

static int read_acknowledgement(const char *reply, size_t length)
{
	struct nlmsghdr header;
	struct nlmsgerr outcome;
	bool acknowledged = false;
	size_t step;

	for (size_t at = 0; length - at >= sizeof(header); at += step) {
		memcpy(&header, reply + at, sizeof(header));
		step = aligned(header.nlmsg_len);
		if (header.nlmsg_len < sizeof(header) || step > length - at)
			break;
		if (header.nlmsg_type != NLMSG_ERROR ||
		    header.nlmsg_len < sizeof(header) + sizeof(outcome))
			continue;
		memcpy(&outcome, reply + at + sizeof(header), sizeof(outcome));
		if (outcome.error)
			return outcome.error;
		acknowledged = true;
	}
	return acknowledged ? 0 : -EBADMSG;
}

int netlink_send(int fd, struct netlink_batch *b)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	char reply[2 * NETLINK_BATCH_MAX];
	ssize_t got;

	end_message(b);
	if (RETRY(sendto(fd, b->bytes, b->length, 0,
			 (const struct sockaddr *)&kernel, sizeof(kernel))) < 0)
		return -errno;
	/* The kernel has answered before sendto() returned: netlink(7). */
	got = RETRY(recv(fd, reply, sizeof(reply), MSG_DONTWAIT));
	if (got < 0)
		return -errno;
	return read_acknowledgement(reply, (size_t)got);
}
