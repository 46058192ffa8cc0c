/**
 * Logs of the main thread: one JSON object a line on standard output (pino). Other threads send messages; the matcher only
 * counts. A line is written before its call returns: last words are not lost, and stand in their order. Why it ends is the last of them
 * ({@link lastWord}). Signatures, keys and bodies are never logged: nobody hands them over, and fields with their names are masked all the
 * same.
 */
import { pino, type Logger } from 'pino'

export type { Logger }

/** Fields whose values never reach a log, wherever they stand: at the top, in an object, or in an object of that. */
const MASKED = [
  'token', 'operatorToken', 'serverKey', 'key', 'privateKey', 'secret', 'password', 'signature', 'authorization', 'nonce', 'body',
  '["x-operator-token"]', '["x-server-key"]', '["x-svc-signature"]',
]
const paths = MASKED.flatMap((name) => {
  const under = name.startsWith('[') ? name : `.${name}`
  return [name, `*${under}`, `*.*${under}`]
})

/** Says why the process ends; whatever threads say while they end is not logged behind it. */
export function lastWord(log: Logger, code: number, message: string): void {
  log.fatal({ code }, message)
  log.level = 'silent'
}

export const createLogger = (level: string): Logger => {
  const options = {
    level,
    base: { service: 'ringbook' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: '[masked]' },
  }
  return pino(options, pino.destination({ fd: 1, sync: true }))
}
