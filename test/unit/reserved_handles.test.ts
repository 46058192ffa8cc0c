/** Promise: handles that followers would take for the service's own are nobody's, however they are spelt; others are free. */
import t from 'tap'
import { isReserved } from '../../gateway/operations/reserved_handles.ts'

t.test('reserved', async (t) => {
  const handles = [
    'admin', 'ADMIN', 'Support', 'ringbook', 'RingBook-official', 'the_ringbook', 'r1ngb00k', 'ring-book', 'support_team', 'admin1',
    'adm1n', '5upport', 'su-pport', 'ringbook2', 'insurance-fund', 'help-desk',
  ]
  for (const handle of handles) t.ok(isReserved(handle), handle)
})

t.test('free', async (t) => {
  for (const handle of ['alice', 'badminton', 'supporter', 'teamster', 'ring', 'book_worm', 'modern', 'x-1', '123', 'rooted', 'mia24']) {
    t.notOk(isReserved(handle), handle)
  }
})
