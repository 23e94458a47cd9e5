// Makes Node find every name under localhost on this machine, as RFC 6761 wants it; not every system does.
import dns from 'node:dns';

const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest);
