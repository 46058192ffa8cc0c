/** Programs on a pseudo terminal, as `script` of util-linux makes one. */
import { spawn, spawnSync } from 'node:child_process'
import { lacks } from '../suite/packages.ts'

/** Why programs cannot be put on a terminal here; false: they can. */
export const noTerminal = (): string | false =>
  spawnSync('script', ['-qefc', 'true', '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] }).status === 0
    ? false : lacks(['bsdutils'], 'there is no script of util-linux')

export interface OnTerminal {
  /** Everything it wrote so far. */
  readonly output: () => string
  /** Types what a user types; '\x03' is Ctrl-C. */
  readonly type: (text: string) => void
  readonly kill: () => void
  readonly ended: Promise<number | null>
}

/** Runs a command on a terminal of its own; its words need no quoting for a shell but what is done here. */
export function onTerminal(words: readonly string[], environment: NodeJS.ProcessEnv): OnTerminal {
  const line = ['exec', ...words.map((word) => `'${word.replaceAll("'", "'\\''")}'`)].join(' ')
  const child = spawn('script', ['-qefc', line, '/dev/null'], { env: { ...environment, SHELL: '/bin/sh' } })
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stdin.on('error', () => undefined)
  return {
    output: () => output,
    type: (text) => void child.stdin.write(text),
    kill: () => void child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.on('close', resolve)),
  }
}
