/**
 * Which process listens on a TCP port, in words: Linux tells in /proc, other systems do not. For messages only. Names
 * no more than number and name of the process: what stands on a command line may be secret.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIPv4 } from 'node:net'

/** State LISTEN in /proc/net/tcp. */
const LISTENS = '0A'
/** Most links of open files that are read. */
const LOOKS = 100_000

interface Socket {
  readonly inode: string
  /** User id of who opened it. */
  readonly user: string
}

const lines = (path: string): string[] => readFileSync(path, 'latin1').trim().split('\n')

/** An IPv4 address as /proc/net/tcp has it: hexadecimal, last byte first. */
const hexOf = (address: string): string =>
  address.split('.').reverse().map((byte) => Number(byte).toString(16).padStart(2, '0')).join('').toUpperCase()

/** Sockets that listen on this port, on `host` or on every address. */
function listening(host: string, port: number): Socket[] {
  const isEvery = (address: string): boolean => /^0+$/.test(address)
  // IPv4 addresses on a socket of IPv6 have a mark in front.
  const isHost = (address: string): boolean => address === hexOf(host) || address.endsWith(`FFFF0000${hexOf(host)}`)
  const isOurs = (address: string): boolean =>
    !isIPv4(host) || host === '0.0.0.0' || isEvery(address) || isHost(address)
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    lines(path).slice(1).flatMap((line) => {
      const [, local, , state, , , , user, , inode] = line.trim().split(/\s+/) as string[]
      const [address, number] = local!.split(':') as [string, string]
      const is = state === LISTENS && Number.parseInt(number, 16) === port && isOurs(address)
      return is ? [{ inode: inode!, user: user! }] : []
    }))
}

/** The process that has one of these sockets open; `null`: this user may not see it. */
function holding(inodes: readonly string[]): string | null {
  const links = new Set(inodes.map((inode) => `socket:[${inode}]`))
  let looks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const file of readdirSync(`/proc/${pid}/fd`)) {
        if (++looks > LOOKS) return null
        if (links.has(readlinkSync(`/proc/${pid}/fd/${file}`))) return pid
      }
    } catch {
      // Of another user, or gone meanwhile.
    }
  }
  return null
}

/** Who listens on `port` of `host`, as in "is in use by ..."; '' where that cannot be told. */
export function portHolder(host: string, port: number): string {
  try {
    const sockets = listening(host, port)
    if (sockets.length === 0) return ''
    const pid = holding(sockets.map(({ inode }) => inode))
    if (pid === null) return `a process of user ${sockets[0]!.user}`
    return `process ${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`
  } catch {
    return ''
  }
}
