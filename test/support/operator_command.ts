/** The operator's command line against an exchange of a test. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Exchange } from './exchange.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'gateway', 'operator', 'main.ts')

/** Runs these words: the exit code, and what was printed, with what went wrong. */
export function operator(
  { operatorPort, operatorToken }: Exchange, ...words: string[]
): Promise<[code: number | null, printed: string]> {
  const environment = { ...process.env, RINGBOOK_OPERATOR_TOKEN: operatorToken }
  const args = ['--disable-warning=ExperimentalWarning', MAIN, ...words, '--port', String(operatorPort)]
  const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve([code, printed]))
  })
}
