/*
 * One batch of nf_tables messages, as `nft` would send for
 *
 *	table inet cordon {
 *		chain output {
 *			type nat hook output priority -100;
 *			meta mark REDIRECT meta l4proto tcp redirect to :RELAY
 *			meta mark REFUSE meta l4proto tcp redirect to :CLOSED
 *			meta mark HOLD meta l4proto tcp drop
 *		}
 *	}
 *
 * Only the supervisor can set a mark (SO_MARK wants CAP_NET_ADMIN over the
 * namespace, which nobody inside has), so what it has not let through stays
 * inside and meets nothing but the sandbox's own servers.
 */
#include "nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

static const char TABLE[] = "cordon", CHAIN[] = "output";

static void open_message(struct netlink_batch *b, int type, int flags)
{
	struct nfgenmsg general = { .nfgen_family = NFPROTO_INET };

	netlink_message(b, NFNL_SUBSYS_NFTABLES << 8 | type, flags, &general,
			sizeof(general));
}

static void mark_batch(struct netlink_batch *b, int type)
{
	struct nfgenmsg general = { .res_id = htons(NFNL_SUBSYS_NFTABLES) };

	netlink_message(b, type, 0, &general, sizeof(general));
}

static void add_string(struct netlink_batch *b, int type, const char *string)
{
	netlink_attribute(b, type, string, strlen(string) + 1);
}

static void add_u32(struct netlink_batch *b, int type, uint32_t value)
{
	value = htonl(value);
	netlink_attribute(b, type, &value, sizeof(value));
}

static void add_data(struct netlink_batch *b, int type, const void *value,
		     size_t length)
{
	size_t nest = netlink_open_nest(b, type);

	netlink_attribute(b, NFTA_DATA_VALUE, value, length);
	netlink_close_nest(b, nest);
}

struct expression {
	size_t element, data;
};

static struct expression open_expression(struct netlink_batch *b,
					 const char *name)
{
	struct expression e;

	e.element = netlink_open_nest(b, NFTA_LIST_ELEM);
	add_string(b, NFTA_EXPR_NAME, name);
	e.data = netlink_open_nest(b, NFTA_EXPR_DATA);
	return e;
}

static void close_expression(struct netlink_batch *b, struct expression e)
{
	netlink_close_nest(b, e.data);
	netlink_close_nest(b, e.element);
}

/* Goes on with the rule only where this property of the packet is `value`. */
static void match_meta(struct netlink_batch *b, uint32_t key, const void *value,
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

static void redirect(struct netlink_batch *b, uint16_t port)
{
	struct expression e = open_expression(b, "immediate");
	uint16_t network_order = htons(port);

	add_u32(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	add_data(b, NFTA_IMMEDIATE_DATA, &network_order, sizeof(network_order));
	close_expression(b, e);
	e = open_expression(b, "redir");
	add_u32(b, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
	/* NF_NAT_RANGE_PROTO_SPECIFIED: to that port. */
	add_u32(b, NFTA_REDIR_FLAGS, 1U << 1);
	close_expression(b, e);
}

static void add_chain(struct netlink_batch *b)
{
	size_t hook;

	open_message(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	add_string(b, NFTA_CHAIN_TABLE, TABLE);
	add_string(b, NFTA_CHAIN_NAME, CHAIN);
	hook = netlink_open_nest(b, NFTA_CHAIN_HOOK);
	add_u32(b, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	add_u32(b, NFTA_HOOK_PRIORITY, (uint32_t)-100);
	netlink_close_nest(b, hook);
	add_string(b, NFTA_CHAIN_TYPE, "nat");
}

static void drop(struct netlink_batch *b)
{
	struct expression e = open_expression(b, "immediate");
	size_t data, verdict;

	add_u32(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = netlink_open_nest(b, NFTA_IMMEDIATE_DATA);
	verdict = netlink_open_nest(b, NFTA_DATA_VERDICT);
	add_u32(b, NFTA_VERDICT_CODE, NF_DROP);
	netlink_close_nest(b, verdict);
	netlink_close_nest(b, data);
	close_expression(b, e);
}

/* To a port, or dropped when that is 0. */
static void add_rule(struct netlink_batch *b, uint32_t mark, uint16_t port,
		     int flags)
{
	static const uint8_t tcp = IPPROTO_TCP;
	size_t expressions;

	open_message(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | flags);
	add_string(b, NFTA_RULE_TABLE, TABLE);
	add_string(b, NFTA_RULE_CHAIN, CHAIN);
	expressions = netlink_open_nest(b, NFTA_RULE_EXPRESSIONS);
	match_meta(b, NFT_META_MARK, &mark, sizeof(mark));
	match_meta(b, NFT_META_L4PROTO, &tcp, sizeof(tcp));
	if (port)
		redirect(b, port);
	else
		drop(b);
	netlink_close_nest(b, expressions);
}

void nft_build(struct netlink_batch *b, const struct redirection *rules)
{
	mark_batch(b, NFNL_MSG_BATCH_BEGIN);
	open_message(b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	add_string(b, NFTA_TABLE_NAME, TABLE);
	add_chain(b);
	add_rule(b, rules->redirect_mark, rules->relay_port, 0);
	add_rule(b, rules->refuse_mark, rules->closed_port, 0);
	add_rule(b, rules->hold_mark, 0, NLM_F_ACK);
	mark_batch(b, NFNL_MSG_BATCH_END);
}

int nft_install(int netfilter, const struct redirection *rules)
{
	struct netlink_batch b = { 0 };

	nft_build(&b, rules);
	return netlink_send(netfilter, &b);
}
