// Package address is where a request comes from, and which of the service's hosts it is for.
package address

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Client is where a request comes from. Proxies that are trusted say so in X-Forwarded-For,
// each adding to its end: the first from there that is not one of them is the client. What anybody
// else says there is not believed, and no other header is read for it.
func Client(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv6Unspecified() // not from a socket: all such callers are one
	}
	address := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(address, trusted); i-- {
		hop, err := parseHop(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap().WithZone("")
	}
	return address
}

// parseHop reads an address, with or without the port that some proxies add.
func parseHop(text string) (netip.Addr, error) {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr(), nil
	}
	return netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
}

func within(a netip.Addr, networks []netip.Prefix) bool {
	for _, n := range networks {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// Host is a Host header without its port, in lower case.
func Host(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// API is where the customer with a slug calls the developer entry point: its own label under the
// domain, by TLS unless the service's own pages have none, as on one's own machine.
func API(publicURL, domain, slug string) string {
	host := slug + "." + domain
	public, err := url.Parse(publicURL)
	if err != nil || public.Scheme != "http" {
		return "https://" + host
	}
	if port := public.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return "http://" + host
}

// Reached is the public URL as a caller with a Host header reaches it: on one's own machine by the
// caller's port, which may be another that is handed on, such as a container's.
func Reached(publicURL, host string) string {
	public, err := url.Parse(publicURL)
	_, port, _ := net.SplitHostPort(host)
	_, none := strconv.ParseUint(port, 10, 16)
	if err != nil || none != nil || public.Scheme != "http" || public.Hostname() != "localhost" {
		return publicURL
	}
	public.Host = net.JoinHostPort("localhost", port)
	return public.String()
}

// Network is the part of an address that names no single household: /24 or /48.
func Network(a netip.Addr) string {
	bits := 24
	if a.Is6() {
		bits = 48
	}
	prefix, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}

// OfCustomer reports whether a Host header names a label under the domain of customers.
func OfCustomer(publicURL, domain, host string) bool {
	host = Host(host)
	slug, under := strings.CutSuffix(host, "."+domain)
	public, err := url.Parse(publicURL)
	isPublic := err == nil && public.Hostname() == host
	return under && !isPublic && !strings.Contains(slug, ".")
}
