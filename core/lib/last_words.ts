/**
 * The end of a process that another one of the exchange started: what nobody caught becomes one message to it, which it logs, instead of
 * a stack on standard error.
 */
import { systemFault } from './system_fault.ts'

/** Lines of a stack that are worth a log line. */
const STACK_LINES = 6

/** From now on an uncaught error is said and ends this process with code 1. `place` is what it works on, for errors of the system. */
export function sayLastWords(place: string): void {
  process.on('uncaughtException', (error) => {
    const { name, message } = systemFault(error, place)
    const stack = error.stack?.split('\n').slice(1, 1 + STACK_LINES).map((line) => line.trim()).join(' ')
    const exit = (): never => process.exit(1)
    // Nobody listens any more: there is nobody to tell.
    if (process.send === undefined || !process.connected) exit()
    process.send!({ type: 'log', level: 'error', message: `${name}: ${message}`, fields: { stack } }, undefined, undefined, exit)
  })
}
