/**
 * strace (a package of Debian) around the exchange: what it asks of the kernel, and calls that fail on purpose.
 *
 *   trace --> parseTrace --> calls in order --> unsynced: orders that were answered before they were durable
 *
 * An order is found by its client order id, which stands as it is in its record in the journal, and by its id in the answer. LMDB
 * writes the pages of a batch, syncs the descriptor that it wrote them through, and then writes its meta page, without which the pages
 * are not there, through a second descriptor that was opened with O_DSYNC. So an order is durable when (1) its page was written, (2) a
 * sync of that descriptor began after that and returned without error, (3) a meta page was written after that and is itself synced.
 * Its answer must begin later. The order of the lines is that of what follows from one another: strace lets a thread go on only when
 * its line is written.
 */
import { spawnSync } from 'node:child_process'
import { lacks } from '../suite/packages.ts'

/** Why nothing can be traced here, or false. */
export function reasonToSkip(): string | false {
  const tried = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true'])
  if (tried.error !== undefined) return lacks(['strace'], 'there is no strace here')
  return tried.status !== 0 ? 'no process may be traced here: it needs root, or CAP_SYS_PTRACE in a container' : false
}

const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg']
const SYNCS = ['fdatasync', 'fsync']

/** The command that runs another one and writes to `path` what {@link parseTrace} reads. Only calls that are traced take longer. */
export const traceTo = (path: string): string[] => [
  'strace', '-f', '--seccomp-bpf', '-qq', '-y', '-s', '65536', '-o', path, '-e', 'signal=none',
  '-e', `trace=openat,${[...WRITES, ...SYNCS]}`,
]

/** Runs another command in which calls on the file `path` fail; `faults` as `fdatasync:error=EIO:when=3`, counted by thread. */
export const failing = (path: string, faults: readonly string[]): string[] => [
  'strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-P', path, '-e', `trace=${faults.map((fault) => fault.split(':')[0])}`,
  ...faults.flatMap((fault) => ['-e', `inject=${fault}`]),
]

/** A call of the system on a descriptor. */
export interface Call {
  readonly name: string
  /** Number of the descriptor and its file, `30</data/journal/data.mdb>`: the same for all calls on it. */
  readonly on: string
  /** What follows the descriptor. */
  readonly arguments: string
  /** Lines where it began and returned; Infinity: it did not. */
  readonly began: number
  returned: number
  /** -1: it failed. */
  result: number
}

const BEGINS = /^(\d+) +(\w+)\((?:AT_FDCWD<[^>]*>|(\d+<[^>]*>))(?:, )?/
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>/
const RESULT = /\) += (-?\d+|\?)([^"]*)$/

/** The calls of a trace, in the order in which they began. An injected result is none: the call was never made. */
export function parseTrace(text: string): Call[] {
  const calls: Call[] = []
  const unfinished = new Map<string, Call>()
  text.split('\n').forEach((line, number) => {
    const resumed = RESUMED.exec(line)
    const thread = (resumed ?? BEGINS.exec(line))?.[1]
    if (thread === undefined) return
    if (resumed !== null) return finish(unfinished.get(thread), line, number)
    const [head, , name, on = ''] = BEGINS.exec(line)!
    const call: Call = { name: name!, on, arguments: line.slice(head!.length), began: number, returned: Infinity, result: -1 }
    calls.push(call)
    if (line.endsWith('<unfinished ...>')) unfinished.set(thread, call)
    else finish(call, line, number)
  })
  return calls
}

function finish(call: Call | undefined, line: string, number: number): void {
  const result = RESULT.exec(line)
  if (call === undefined || result === null) return
  call.returned = number
  call.result = result[1] === '?' || result[2]!.includes('INJECTED') ? -1 : Number(result[1])
  if (call.name !== 'openat') return
  const opened = /^<[^>]*>/.exec(result[2]!)?.[0]
  Object.assign(call, { on: opened === undefined ? '' : `${call.result}${opened}` })
}

/** An order that a client was told of. */
export interface Acknowledged {
  readonly clientOrderId: string
  readonly orderId: string
}

/** LMDB's two meta pages stand first in its file. */
const META_BYTES = 2 * 4096

/**
 * What is wrong with the trace of an exchange that acknowledged these orders: an order that is not found written or
 * answered, and each that was answered before it was durable in `file`. Empty: each was durable before its answer began.
 */
export function unsynced(calls: readonly Call[], file: string, orders: readonly Acknowledged[]): string[] {
  const writes = calls.filter(({ name, on }) => WRITES.includes(name) && on.endsWith(`<${file}>`))
  const syncs = calls.filter(({ name, result, on }) => SYNCS.includes(name) && result === 0 && on.endsWith(`<${file}>`))
  const metas = writes.filter((call) => call.name === 'pwrite64' && offsetOf(call) < META_BYTES)
  const answers = calls.filter(({ name, on }) => WRITES.includes(name) && /<(socket|TCP)/.test(on))
  const synchronous = synchronousOf(calls, file)
  /** The line at which what `write` wrote had surely reached the disk. */
  const durableAt = (write: Call): number =>
    write.result <= 0 ? Infinity : synchronous.has(write.on) || write.arguments.includes('RWF_DSYNC') ? write.returned
      : syncs.find(({ on, began }) => on === write.on && began > write.returned)?.returned ?? Infinity
  return orders.flatMap(({ clientOrderId: order, orderId }) => {
    const page = writes.find((call) => call.arguments.includes(order))
    const answer = answers.find((call) => call.arguments.includes(orderId))
    if (page === undefined) return [`${order} is not seen in the journal`]
    if (answer === undefined) return [`${order} is not seen answered`]
    const pages = durableAt(page)
    const meta = metas.find(({ began }) => began > pages)
    const whole = meta === undefined ? Infinity : durableAt(meta)
    const said = `${order}: written at line ${page.began + 1}, answered at ${answer.began + 1}`
    if (pages >= answer.began) return [`${said}, its page was not synced before that`]
    return whole >= answer.began ? [`${said}, no meta page was synced before that`] : []
  })
}

/** Descriptors of the file that wait for the disk with every write. One whose number was used for several stays out. */
function synchronousOf(calls: readonly Call[], file: string): Set<string> {
  const opened = calls.filter(({ name, on, arguments: all }) => name === 'openat' && on.endsWith(`<${file}>`) && !all.includes('O_RDONLY'))
  const isSynchronous = ({ arguments: all }: Call): boolean => /\bO_D?SYNC\b/.test(all)
  const other = new Set(opened.filter((call) => !isSynchronous(call)).map(({ on }) => on))
  return new Set(opened.filter((call) => isSynchronous(call) && !other.has(call.on)).map(({ on }) => on))
}

/** Where in the file a pwrite64 writes: its last argument. */
const offsetOf = (call: Call): number => Number(/, (\d+)(?:\) += .*| <unfinished \.\.\.>)$/.exec(call.arguments)?.[1] ?? NaN)
