/**
 * A follower process as the main thread sees it: started again whenever it ends, and ended when it hangs.
 *
 * A follower that works is heard of several times a second, whatever it does. One that is stopped, or waits for ever for a disk, is still
 * there and its channel is open, so nothing but its silence tells. Silence is counted by the monotonic clock in steps of a look, each
 * of which counts for two looks at most: while this thread itself stands, or the machine sleeps, nobody is silent. A silence of
 * `followerSilenceSeconds` is a hang, and the process is killed, which works on a stopped one too; each kill in a row doubles the bound, so
 * that a follower on a disk that is only slow is not killed for ever. One that is starting has {@link STARTING} times as long: it loads
 * its modules and a snapshot before it says anything.
 */
import type { ChildProcess } from 'node:child_process'
import { forkQuick } from '../lib/quick_thread.ts'
import type { FromFollower } from '../threads.ts'
import { Restart } from './restart.ts'

/** How often its silence is looked at, ms. */
const LOOK_MS = 250
/** A silence is said from half the bound on, and from this many ms on. */
const SILENT_MS = 5_000
const STARTING = 4
/** Most that kills in a row make of the bound. */
const DOUBLINGS = 5

export interface FollowerHooks {
  readonly heard: (message: FromFollower) => void
  /** One was started. */
  readonly started: (pid: number | undefined) => void
  /** It ended without being asked to. */
  readonly ended: (code: number | null, signal: NodeJS.Signals | null) => void
  /** It said nothing for this long and is killed. */
  readonly killed: (seconds: number) => void
  /** Its silence so far, ms, and whether it is longer than one that works ever is; several times a second. */
  readonly silence: (ms: number, silent: boolean) => void
}

export interface Follower {
  /** It works: the next trouble is a new one. */
  well(): void
  send(message: object): void
  /** Lets it catch up with the journal, which must not grow any more, and end; it is not started again. */
  finish(): Promise<void>
}

/** Starts the file at `path` with these arguments. */
export function startFollower(path: string, args: readonly string[], silenceSeconds: number, hooks: FollowerHooks): Follower {
  let child: ChildProcess | null = null
  let kills = 0
  let silence = 0
  let heard = false
  let lookedAt = performance.now()

  const look = (): void => {
    const now = performance.now()
    silence += Math.min(now - lookedAt, 2 * LOOK_MS)
    lookedAt = now
    if (child === null) silence = 0
    const bound = silenceSeconds * 1000 * 2 ** kills * (heard ? 1 : STARTING)
    hooks.silence(silence, silence >= Math.min(SILENT_MS, bound / 2))
    if (child === null || silence < bound) return
    hooks.killed(silence / 1000)
    kills = Math.min(kills + 1, DOUBLINGS)
    silence = 0
    child.kill('SIGKILL')
  }
  const start = (): void => {
    const started = forkQuick(path, args)
    child = started
    silence = 0
    heard = false
    const over = (code: number | null, signal: NodeJS.Signals | null): void => {
      child = null
      if (restart.finishing) return
      hooks.ended(code, signal)
      restart.ended()
    }
    // Without a file or a process to have, it never was, and never exits.
    if (started.pid === undefined) {
      started.on('error', () => over(null, null))
      return
    }
    hooks.started(started.pid)
    started.on('message', (message: FromFollower) => {
      silence = 0
      heard = true
      hooks.heard(message)
    })
    started.on('error', () => undefined)
    started.on('exit', over)
  }
  const restart = new Restart(start)
  start()
  setInterval(look, LOOK_MS).unref()
  const send = (message: object): void => void child?.send(message, () => undefined)
  return {
    send,
    well: () => {
      restart.well()
      kills = 0
    },
    finish: () => {
      restart.finish()
      const last = child
      if (last === null) return Promise.resolve()
      return new Promise((resolve) => {
        last.once('exit', () => resolve())
        send({ type: 'finish' })
      })
    },
  }
}
