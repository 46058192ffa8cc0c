/**
 * What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, since one host has all of that. An IPv4
 * address mapped into IPv6 is the IPv4 address.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip
  const address = ip.split('%')[0]!
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  const groups = [...head, ...zeros, ...tail].map((group) => parseInt(group, 16))
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  }
  return groups.slice(0, 4).map((group) => group.toString(16)).join(':')
}

/** The site of a client: its IPv4 address, or the /48 network around an IPv6 client, which is what one subscriber is given at most. */
export const siteOf = (network: string): string => (network.includes(':') ? network.split(':').slice(0, SITE_GROUPS).join(':') : network)
const SITE_GROUPS = 3
