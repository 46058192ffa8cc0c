/**
 * Logs of the main thread: one JSON object a line on standard output (pino). Other threads send messages; the matcher only
 * counts. Signatures, keys and bodies are never logged.
 */
import { pino, type Logger } from 'pino'

export type { Logger }

export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: { service: 'ringbook' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  })
