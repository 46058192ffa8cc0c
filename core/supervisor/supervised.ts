/**
 * The exchange process and its supervisor (supervisor/main.ts): stops that are asked for, and announcing the end. Imported before anything
 * else, so that a stop that comes while modules are loaded is an orderly one.
 *
 * When the supervisor is gone this process ends at once, as by kill -9: nobody would stop it, write its log or know that it runs.
 */
import type { FromSupervisor, ToSupervisor } from '../threads.ts'

const asked = Promise.withResolvers<string>()
/** Resolves with what asked for a stop: a signal, of the supervisor's or of this process. */
export const stopAsked: Promise<string> = asked.promise

let reload: () => void = () => undefined
/** What is done when the certificates are to be read again. */
export const onReload = (act: () => void): void => void (reload = act)

/** Whether there is a supervisor; without one the exchange is not to be started. */
export const supervised = process.send !== undefined

const killSelf = (): void => void process.kill(process.pid, 'SIGKILL')

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => asked.resolve(signal))
process.on('SIGHUP', () => reload())
if (supervised) {
  process.on('message', (message: FromSupervisor) => (message.type === 'reload' ? reload() : asked.resolve(message.cause)))
  process.on('disconnect', killSelf)
  if (!process.connected) killSelf()
}

/** Ends this process with `code`, and has the supervisor see to it: the clean-up of native modules may hang or fail. */
export function exit(code: number): never {
  announceExit(code)
  process.exit(code)
}

/** From now on the exit code is this one, however the process ends, and it is killed if it takes too long. */
export function announceExit(code: number): void {
  process.send?.({ type: 'ending', code } satisfies ToSupervisor, undefined, undefined, () => undefined)
}
