/** The real history behind a harness: the projector on the events of its ring, in memory, and the answers to its gateways. */
import { createAnswers } from '../../core/history/answer/answers.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { openWriter, writePosition } from '../../core/history/store/store.ts'
import { viewsOf } from '../../core/layout/table.ts'
import { attachBroadcast, createReader, read } from '../../core/ring/broadcast.ts'
import type { Harness, Historian } from './gateway_harness.ts'
import { ask, positionAt } from './history.ts'

/** Answers from everything that happened so far. `harness` is asked for with the first question. */
export function liveHistorian(harness: () => Harness): Historian {
  let history: Historian | null = null
  return (request) => (history ??= historianOf(harness()))(request)
}

function historianOf({ state, shared }: Harness): Historian {
  const database = openWriter(':memory:')
  const names = identitiesOf(state)
  const projector = createProjector(database, state.genesis, names)
  // Balances of a batch are written by the snapshot follower, which no harness has.
  const answers = createAnswers(database, state.genesis, { names, balances: () => null })
  const reader = createReader(attachBroadcast(shared.events as SharedArrayBuffer), 256, 0)
  const events = viewsOf(reader.copy.buffer as ArrayBuffer)
  return ({ id, name, ask: question, atLeast: sequence }) => {
    for (let count = read(reader); count !== 0; count = read(reader)) {
      if (count < 0) throw new Error('more events than the ring has room for happened before the history was asked')
      projector.project(events, count)
    }
    database.transaction(() => writePosition(database, positionAt(Math.max(1, sequence), projector.flush())))()
    return { id, answer: ask(answers, name, question as never), sequence }
  }
}
