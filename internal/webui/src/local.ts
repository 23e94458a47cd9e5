// Which addresses are this site's pages; local.go says why, and has the same form.

const form = /^\/(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?(?:\?[\w.~%&=+-]*)?$/;

/** Reports whether an address is one of this site's pages, to which a visitor may be sent. */
export const local = (address: string): boolean => form.test(address);
