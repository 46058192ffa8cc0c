/**
 * Promise: a client order id is a label. It has no influence on matching, money or priority (I12): the same stream with a fresh
 * label on a fifth of its orders and without any gives the same fills, ends, answers and balances.
 */
import t from 'tap'
import { Flag } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { recordWorkload, storedBytes, storedColumns, type Recording } from '../support/recording.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const FLAG_WORDS: Record<number, number[]> = {
  [EventType.RESULT]: [RESULT.at.flags],
  [EventType.FILL]: [FILL.at.makerFlags, FILL.at.takerFlags],
  [EventType.ORDER_ENDED]: [ORDER_ENDED.at.flags],
}

/** The events without LABEL records and without the label lengths in the flags. */
function unlabelled(events: Buffer): Buffer {
  const copy = viewsOf(new Uint8Array(events).buffer)
  const kept: Uint8Array[] = []
  for (let base = 0; base < copy.i32.length; base += RECORD_WORDS) {
    const type = eventTypeOf(copy.u32[base]!)
    if (type === EventType.LABEL) continue
    for (const word of FLAG_WORDS[type] ?? []) copy.u32[base + word]! &= 0xff_ffff
    kept.push(copy.bytes.subarray(base * 4, base * 4 + RECORD_BYTES))
  }
  return Buffer.concat(kept)
}

function countOf(recording: Recording, type: number): number {
  let count = 0
  for (const events of recording.events) {
    for (let at = 0; at < events.length; at += RECORD_BYTES) if (eventTypeOf(events.readUInt32LE(at)) === type) count++
  }
  return count
}

for (const [variant, seed] of [['market', 31], ['fees', 32], ['tight', 33]] as const) {
  t.test(`${variant}, seed ${seed}`, async (t) => {
    const text = genesisText(VARIANTS[variant]!)
    const labelled = recordWorkload(text, seed, 10_000, { freshLabels: true })
    const plain = recordWorkload(text, seed, 10_000, { unlabelled: true })
    t.ok(countOf(labelled, EventType.LABEL) > 200, 'one stream has labels')
    t.equal(countOf(plain, EventType.LABEL), 0, 'the other has none')
    t.ok(countOf(plain, EventType.FILL) > 50, 'and they trade')
    const different = plain.events.findIndex((events, index) => !events.equals(unlabelled(labelled.events[index]!)))
    t.equal(different, -1, 'first command with other events')
    for (const column of storedColumns(plain.state)) {
      if (!['balances', 'totals', 'pairs', 'levels', 'pages', 'details'].includes(column.name)) continue
      t.ok(storedBytes(plain.state, column).equals(storedBytes(labelled.state, column)), `column ${column.name} is the same`)
    }
  })
}
t.equal(Flag.REPEATED, 1 << 15, 'flags stay below the label length')
