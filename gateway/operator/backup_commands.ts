/**
 * Backup and restore on the operator's command line. They ask nothing of the operator port: a process of their own (core/backup/main.ts)
 * works on the data directory, whether an exchange runs on it or not. Its progress is standard error's.
 */
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { dataDirOf } from '../../core/lib/about.ts'
import { QUICK } from '../../core/lib/quick_thread.ts'
import { OperatorError } from './client.ts'
import { said, typedFor, UsageError, type Command, type Options, type Shown } from './command.ts'
import { bytes, count, facts } from './text.ts'

const RATE = { fallback: '64', low: 1, high: 100_000 } as const
const PROGRAM = join(import.meta.dirname, '..', '..', 'core', 'backup', 'main.ts')

interface Manifest {
  readonly sequence: number
  readonly time: string
  readonly digest: string
  readonly snapshot: number | null
  readonly history: number | null
  readonly files: readonly { readonly bytes: number }[]
}

function rateOf(options: Options): string {
  const rate = typedFor(options, 'rate') ?? RATE.fallback
  if (/^\d+$/.test(rate) && Number(rate) >= RATE.low && Number(rate) <= RATE.high) return rate
  throw new UsageError(`--rate is a whole number of MiB a second, ${RATE.low} to ${RATE.high}`)
}

/** Runs the program; what it made. */
async function run(arguments_: readonly string[]): Promise<Manifest> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', QUICK, PROGRAM, ...arguments_], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  const code = await new Promise<number | null>((settle) => child.on('close', settle))
  // One that was killed has said nothing.
  const answer = out.endsWith('\n') ? (JSON.parse(out) as Manifest | { code: string; message: string }) : null
  if (answer !== null && 'code' in answer) throw new OperatorError(answer.code, answer.message)
  if (answer !== null && code === 0) return answer
  throw new OperatorError('BACKUP_FAILED', 'the process ended before it was done; nothing it left passes for a backup', { exitCode: code })
}

function shown(manifest: Manifest, where: string): Shown {
  const { sequence, time, digest, snapshot, history, files } = manifest
  return said(manifest, facts([
    ['directory', where],
    ['sequence', count(sequence)],
    ['time', time],
    ['digest', digest],
    ['snapshot', snapshot === null ? 'none' : count(snapshot)],
    ['history', history === null ? 'none: it is made anew from the journal' : count(history)],
    ['bytes', bytes(files.reduce((sum, file) => sum + file.bytes, 0))],
  ]))
}

const flags = ({ full, 'without-history': without }: Options): string[] => [
  ...(full === true ? ['--full'] : []), ...(without === true ? ['--without-history'] : []),
]
const LIMITS = [
  { name: 'rate', value: 'MIB_PER_SECOND', optional: true },
  { name: 'full', value: '', optional: true },
] as const

export const BACKUP_COMMANDS: readonly Command[] = [
  {
    name: 'backup',
    parameters: ['DIRECTORY'],
    options: [...LIMITS, { name: 'without-history', value: '', optional: true }],
    purpose: 'a consistent copy of the data directory, verified, while the exchange runs or not',
    explains: 'Of the data directory that --data-dir names: the newest snapshot, the history, the embedded chain, both secrets and then\n'
      + 'the journal, up to its end by then, into DIRECTORY, which must not be there or be empty. The copy is read back whole and\n'
      + 'replayed from its snapshot (--full: from the genesis too) before it gets its name; an interrupted one is left as\n'
      + 'DIRECTORY.unfinished and is never taken for a backup.\n'
      + 'It holds the operator\'s token: keep it as you keep that. At most --rate MiB are written a second, 64 by default.\n'
      + 'Without the history the restored exchange makes it anew, which takes longer.',
    example: ['backup /srv/backup/monday', 'directory  /srv/backup/monday\nsequence   1,042'],
    run: async (_ask, [to], options) => {
      const from = resolve(dataDirOf(typedFor(options, 'data-dir')))
      return shown(await run(['backup', from, resolve(to!), '--rate', rateOf(options), ...flags(options)]), resolve(to!))
    },
  },
  {
    name: 'restore',
    parameters: ['BACKUP', 'DATA_DIRECTORY'],
    options: LIMITS,
    purpose: 'make a data directory of a backup',
    explains: 'DATA_DIRECTORY must not be there, or be empty. Every file is held against the backup\'s checksums, and the result is\n'
      + 'replayed: it must come to the state that the backup has. Then: npm start -- --data-dir DATA_DIRECTORY.\n'
      + 'What was acknowledged after the backup is not in it. Never let two exchanges run on restored copies of one backup.',
    example: ['restore /srv/backup/monday /srv/ringbook-new', 'directory  /srv/ringbook-new\nsequence   1,042'],
    run: async (_ask, [from, to], options) =>
      shown(await run(['restore', resolve(from!), resolve(to!), '--rate', rateOf(options), ...flags(options)]), resolve(to!)),
  },
]
