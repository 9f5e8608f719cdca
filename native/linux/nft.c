/*
 * One batch of nf_tables netlink messages, as `nft` would send for
 *
 *	table inet cordon {
 *		chain output {
 *			type nat hook output priority -100;
 *			meta mark MARK meta l4proto tcp redirect to :PORT
 *		}
 *	}
 *
 * Only the supervisor can set the mark (SO_MARK wants CAP_NET_ADMIN over the
 * namespace, which nobody inside has), so what it has not let through stays
 * inside and meets nothing but the sandbox's own servers.
 */
#include "nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

struct batch {
	unsigned char *bytes;
	size_t length;
	uint32_t sequence;
};

static const char TABLE[] = "cordon", CHAIN[] = "output";

static size_t open_message(struct batch *b, int type, int flags, int family,
			   int resource)
{
	size_t start = b->length;
	struct nlmsghdr header = {
		.nlmsg_type = (uint16_t)type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
		.nlmsg_seq = ++b->sequence,
	};
	struct nfgenmsg general = {
		.nfgen_family = (uint8_t)family,
		.res_id = htons((uint16_t)resource),
	};

	memcpy(b->bytes + start, &header, sizeof(header));
	memcpy(b->bytes + start + NLMSG_HDRLEN, &general, sizeof(general));
	b->length += NLMSG_SPACE(sizeof(general));
	return start;
}

static void close_message(struct batch *b, size_t start)
{
	uint32_t length = (uint32_t)(b->length - start);

	memcpy(b->bytes + start + offsetof(struct nlmsghdr, nlmsg_len), &length,
	       sizeof(length));
}

/* Attributes are padded to four bytes, linux/netlink.h. */
static size_t aligned(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

static size_t add(struct batch *b, int type, const void *data, size_t length)
{
	size_t start = b->length;
	struct nlattr attribute = {
		.nla_type = (uint16_t)type,
		.nla_len = (uint16_t)(sizeof(attribute) + length),
	};

	memcpy(b->bytes + start, &attribute, sizeof(attribute));
	if (length)
		memcpy(b->bytes + start + sizeof(attribute), data, length);
	b->length += sizeof(attribute) + aligned(length);
	return start;
}

static void add_string(struct batch *b, int type, const char *string)
{
	(void)add(b, type, string, strlen(string) + 1);
}

static void add_u32(struct batch *b, int type, uint32_t value)
{
	value = htonl(value);
	(void)add(b, type, &value, sizeof(value));
}

static size_t open_nest(struct batch *b, int type)
{
	return add(b, type | NLA_F_NESTED, NULL, 0);
}

static void close_nest(struct batch *b, size_t start)
{
	uint16_t length = (uint16_t)(b->length - start);

	memcpy(b->bytes + start + offsetof(struct nlattr, nla_len), &length,
	       sizeof(length));
}

struct expression {
	size_t element, data;
};

static struct expression open_expression(struct batch *b, const char *name)
{
	struct expression e;

	e.element = open_nest(b, NFTA_LIST_ELEM);
	add_string(b, NFTA_EXPR_NAME, name);
	e.data = open_nest(b, NFTA_EXPR_DATA);
	return e;
}

static void close_expression(struct batch *b, struct expression e)
{
	close_nest(b, e.data);
	close_nest(b, e.element);
}

static void add_data(struct batch *b, int type, const void *value,
		     size_t length)
{
	size_t nest = open_nest(b, type);

	(void)add(b, NFTA_DATA_VALUE, value, length);
	close_nest(b, nest);
}

/* Goes on with the rule only where this property of the packet is `value`. */
static void match_meta(struct batch *b, uint32_t key, const void *value,
		       size_t length)
{
	struct expression e = open_expression(b, "meta");

	add_u32(b, NFTA_META_DREG, NFT_REG_1);
	add_u32(b, NFTA_META_KEY, key);
	close_expression(b, e);
	e = open_expression(b, "cmp");
	add_u32(b, NFTA_CMP_SREG, NFT_REG_1);
	add_u32(b, NFTA_CMP_OP, NFT_CMP_EQ);
	add_data(b, NFTA_CMP_DATA, value, length);
	close_expression(b, e);
}

static void redirect(struct batch *b, uint16_t port)
{
	struct expression e = open_expression(b, "immediate");
	uint16_t network_order = htons(port);

	add_u32(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	add_data(b, NFTA_IMMEDIATE_DATA, &network_order, sizeof(network_order));
	close_expression(b, e);
	e = open_expression(b, "redir");
	add_u32(b, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
	add_u32(b, NFTA_REDIR_FLAGS,
		1U << 1); /* NF_NAT_RANGE_PROTO_SPECIFIED */
	close_expression(b, e);
}

static void add_table(struct batch *b)
{
	size_t message =
		open_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE,
			     NLM_F_CREATE, NFPROTO_INET, 0);

	add_string(b, NFTA_TABLE_NAME, TABLE);
	close_message(b, message);
}

static void add_chain(struct batch *b)
{
	size_t message =
		open_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN,
			     NLM_F_CREATE, NFPROTO_INET, 0);
	size_t hook;

	add_string(b, NFTA_CHAIN_TABLE, TABLE);
	add_string(b, NFTA_CHAIN_NAME, CHAIN);
	hook = open_nest(b, NFTA_CHAIN_HOOK);
	add_u32(b, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	add_u32(b, NFTA_HOOK_PRIORITY, (uint32_t)-100);
	close_nest(b, hook);
	add_string(b, NFTA_CHAIN_TYPE, "nat");
	close_message(b, message);
}

static void add_rule(struct batch *b, uint16_t port, uint32_t mark)
{
	static const uint8_t tcp = IPPROTO_TCP;
	size_t message =
		open_message(b, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE,
			     NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK,
			     NFPROTO_INET, 0);
	size_t expressions;

	add_string(b, NFTA_RULE_TABLE, TABLE);
	add_string(b, NFTA_RULE_CHAIN, CHAIN);
	expressions = open_nest(b, NFTA_RULE_EXPRESSIONS);
	match_meta(b, NFT_META_MARK, &mark, sizeof(mark));
	match_meta(b, NFT_META_L4PROTO, &tcp, sizeof(tcp));
	redirect(b, port);
	close_nest(b, expressions);
	close_message(b, message);
}

size_t nft_build(uint16_t port, uint32_t mark,
		 unsigned char ret_batch[NFT_BATCH_MAX])
{
	struct batch b = { .bytes = ret_batch };

	memset(ret_batch, 0, NFT_BATCH_MAX); /* the padding of attributes */
	close_message(&b, open_message(&b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC,
				       NFNL_SUBSYS_NFTABLES));
	add_table(&b);
	add_chain(&b);
	add_rule(&b, port, mark);
	close_message(&b, open_message(&b, NFNL_MSG_BATCH_END, 0, AF_UNSPEC,
				       NFNL_SUBSYS_NFTABLES));
	return b.length;
}

/* 0 when the kernel acknowledged; the first error it reported otherwise. */
static int read_acknowledgement(const char *reply, size_t length)
{
	struct nlmsghdr header;
	struct nlmsgerr outcome;
	bool acknowledged = false;
	size_t step;

	for (size_t at = 0; length - at >= sizeof(header); at += step) {
		memcpy(&header, reply + at, sizeof(header));
		step = NLMSG_ALIGN(header.nlmsg_len);
		if (header.nlmsg_len < sizeof(header) || step > length - at)
			break;
		if (header.nlmsg_type != NLMSG_ERROR ||
		    header.nlmsg_len < NLMSG_LENGTH(sizeof(outcome)))
			continue;
		memcpy(&outcome, reply + at + NLMSG_HDRLEN, sizeof(outcome));
		if (outcome.error)
			return outcome.error;
		acknowledged = true;
	}
	return acknowledged ? 0 : -EBADMSG;
}

int nft_install(int netfilter, uint16_t port, uint32_t mark)
{
	unsigned char batch[NFT_BATCH_MAX];
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t length = nft_build(port, mark, batch);
	char reply[NFT_BATCH_MAX + 512];
	ssize_t got;

	if (RETRY(sendto(netfilter, batch, length, 0,
			 (const struct sockaddr *)&kernel, sizeof(kernel))) < 0)
		return -errno;
	/* The kernel has answered before sendto() returned: netlink(7). */
	got = RETRY(recv(netfilter, reply, sizeof(reply), MSG_DONTWAIT));
	if (got < 0)
		return -errno;
	return read_acknowledgement(reply, (size_t)got);
}
