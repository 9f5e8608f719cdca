/* Reading of wishes, see requestWish.h. */
#include "../network/names.h"
#include "../supervisor/wanted.h"
#include "requestWish.h"

static int parse_path(const struct json *value, struct wish *ret_wish)
{
	static const char *const keys[] = { "access", "path" };
	const char *name = json_as_string(json_member(value, "access"));
	const char *path = json_as_string(json_member(value, "path"));
	int access = name ? access_of(name) : -EBADMSG;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) || access < 0 ||
	    !path || !is_plain_path(path))
		return -EBADMSG;
	*ret_wish = (struct wish){
		.kind = WISH_PATH,
		.access = (enum access)access,
		.path = path,
	};
	return 0;
}

static int parse_connect(const struct json *value, struct wish *ret_wish)
{
	static const char *const keys[] = { "host", "port" };
	const char *host = json_as_string(json_member(value, "host"));
	struct wish wish = { .kind = WISH_CONNECT };
	int64_t port;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) || !host ||
	    json_as_integer(json_member(value, "port"), 1, 65535, &port))
		return -EBADMSG;
	wish.to.port = (uint16_t)port;
	/* An address in digits would be a host name as well. */
	if (address_parse(host, &wish.to.address)) {
		if (!is_host_name(host))
			return -EBADMSG;
		wish.to.host = host;
	}
	*ret_wish = wish;
	return 0;
}

static int parse_publish(const struct json *value, struct wish *ret_wish)
{
	static const char *const keys[] = { "publish" };
	int64_t port;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) ||
	    json_as_integer(json_member(value, "publish"), 1, 65535, &port))
		return -EBADMSG;
	*ret_wish = (struct wish){
		.kind = WISH_PUBLISH,
		.to.port = (uint16_t)port,
	};
	return 0;
}

int parse_wish(const struct json *value, struct wish *ret_wish)
{
	if (json_member(value, "access"))
		return parse_path(value, ret_wish);
	if (json_member(value, "host"))
		return parse_connect(value, ret_wish);
	return parse_publish(value, ret_wish);
}
