/* netlink.c and nft.c: messages whose lengths are right at every level. */
#include <linux/netfilter/nfnetlink.h>

#include "check.h"
#include "linux/network/nft.h"

static const struct redirection rules = {
	.redirect_mark = 1,
	.relay_port = 9,
	.refuse_mark = 2,
	.closed_port = 10,
	.hold_mark = 3,
};

/* Attributes fill bytes[0..length) exactly, nested ones too. */
static bool attributes_fit(const unsigned char *bytes, size_t length)
{
	struct nlattr attribute;
	size_t step;

	for (size_t at = 0; at < length; at += step) {
		if (length - at < sizeof(attribute))
			return false;
		memcpy(&attribute, bytes + at, sizeof(attribute));
		step = (attribute.nla_len + 3U) & ~3U;
		if (attribute.nla_len < sizeof(attribute) || step > length - at)
			return false;
		if (attribute.nla_type & NLA_F_NESTED &&
		    !attributes_fit(bytes + at + sizeof(attribute),
				    attribute.nla_len - sizeof(attribute)))
			return false;
	}
	return true;
}

static void batch_is_whole(void)
{
	static struct netlink_batch b;
	struct nlmsghdr header;
	size_t at = 0, count = 0, head;

	nft_build(&b, &rules);
	/* The last message ends when the batch is sent; end it here. */
	header.nlmsg_len = (uint32_t)(b.length - b.message);
	memcpy(b.bytes + b.message, &header.nlmsg_len, 4);
	for (; at < b.length; at += header.nlmsg_len) {
		memcpy(&header, b.bytes + at, sizeof(header));
		head = sizeof(header) + sizeof(struct nfgenmsg);
		CHECK(header.nlmsg_len >= head);
		CHECK(header.nlmsg_len <= b.length - at);
		CHECK(header.nlmsg_seq == ++count);
		if (check_failed)
			return;
		CHECK(attributes_fit(b.bytes + at + head,
				     header.nlmsg_len - head));
	}
	/* begin, table, chain, three rules, end */

	CHECK(count == 7);
}

static void no_kernel(void)
{
	CHECK(nft_install(-1, &rules) == -EBADF);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "the batch is seven whole messages", batch_is_whole },
		{ "a failure to send is told", no_kernel },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
