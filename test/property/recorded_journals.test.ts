/**
 * Promise: a journal that an earlier version wrote replays to the events it had then, byte for byte, and to a state that holds together.
 *
 * test/recorded/ has journals as LMDB files, written by the version they are named after, and what replaying them gave that version. They
 * are never made again: whoever changes what they replay to has changed what users can check. When commands are added, a journal that has
 * them is added too: `RECORD=NAME:VARIANT npm test -- test/property/recorded_journals.test.ts` writes one of this version
 * (VARIANT: a name of support/variants.ts, or `applications`).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { CommandType, commandName, typeOfKind } from '../../core/layout/command.ts'
import { journalPath } from '../../core/journal/file.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { applicationCommand, applicationsGenesis } from '../support/applications_duel.ts'
import { makeJournal, postCommand, startMatcher, takeAnswers } from '../support/journal.ts'
import { VARIANTS } from '../support/variants.ts'

interface Recorded {
  readonly commands: number
  /** Chained checksum of the bytes of all events. */
  readonly eventsChecksum: number
  /** How often each command is in it. */
  readonly counts: Readonly<Record<string, number>>
}

const FOLDER = join(import.meta.dirname, '..', 'recorded')
const LIST = join(FOLDER, 'journals.json')
const fileOf = (name: string): string => join(FOLDER, `${name}.mdb.gz`)
const recorded = JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, Recorded>

/** A data directory of its own, gone when the test is over. */
function directory(t: Test): string {
  const path = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function read(dataDir: string): Recorded {
  const { commands, eventsChecksum } = verify(dataDir, () => undefined)
  const counts: Record<string, number> = {}
  for (const { command } of openSource(dataDir).steps) {
    const name = commandName(typeOfKind(command.readUInt32LE(0)))
    counts[name] = (counts[name] ?? 0) + 1
  }
  return { commands, eventsChecksum, counts: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Writes what operators do to applications, and sign-ins to them. */
function makeApplicationsJournal(dataDir: string): void {
  const matcher = startMatcher(dataDir, { genesis: applicationsGenesis() })
  const random = createPrng(7)
  for (let index = 0; index < 600; index++) {
    const { type, values } = applicationCommand(random)
    matcher.clock += random.below(60_000)
    postCommand(matcher, type === CommandType.OPEN_SESSION ? 1 : 0, type, { session: -1, ...values })
    matcher.turn()
    for (const lane of matcher.gateways) takeAnswers(lane)
  }
}

const [name, variant] = (process.env['RECORD'] ?? '').split(':')
if (name !== undefined && name !== '' && variant !== undefined) {
  t.test(`records ${name}`, async (t) => {
    const dataDir = directory(t)
    t.notOk(Object.hasOwn(recorded, name), 'recorded journals are not made again')
    if (variant === 'applications') makeApplicationsJournal(dataDir)
    else makeJournal(dataDir, { seed: 7, batches: 600, variant, families: VARIANTS[variant]!.families ?? false })
    writeFileSync(fileOf(name), gzipSync(readFileSync(join(journalPath(dataDir), 'data.mdb')), { level: 9 }))
    writeFileSync(LIST, `${JSON.stringify({ ...recorded, [name]: read(dataDir) }, null, 2)}\n`)
  })
} else {
  for (const [name, expected] of Object.entries(recorded)) {
    t.test(`${name} replays to what it was`, async (t) => {
      const dataDir = directory(t)
      mkdirSync(journalPath(dataDir), { recursive: true })
      writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(fileOf(name))))
      t.same(read(dataDir), expected)
    })
  }

  t.test('every command that traders and operators can send is in one of them', async (t) => {
    const seen = new Set(Object.values(recorded).flatMap(({ counts }) => Object.keys(counts)))
    // The genesis is what steps begin with; rules and the acceptance of a loss are written by the sequencer itself.
    const own: CommandType[] = [CommandType.GENESIS, CommandType.SET_RULES, CommandType.ACCEPT_LOSS, CommandType.ACCEPT_CLOCK]
    // To be recorded when the rules 1 are whole: what is recorded once is never made again.
    own.push(CommandType.CANCEL_ACCOUNT_ORDERS)
    const types = Object.values(CommandType).filter((type) => !own.includes(type))
    const missing = types.map((type) => commandName(type)).filter((name) => !seen.has(name))
    t.same(missing, [])
  })
}
