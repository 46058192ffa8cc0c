/**
 * Promise: a key of a genesis that nothing reads is refused before an exchange begins, with where it stands and what may be meant; what the
 * shipped documents and those of tests have is read, all of it. An exchange that began with such a key goes on.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nearWord } from '../../core/lib/near_word.ts'
import { checkKeys } from '../../core/sequencer/genesis_keys.ts'
import { GenesisError, parseGenesis } from '../../core/state/genesis.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const shipped = readFileSync(join(import.meta.dirname, '../../data/genesis/genesis.json'), 'utf8')

t.test('whole documents', (t) => {
  t.doesNotThrow(() => checkKeys(shipped), 'the shipped one')
  const { pairs, ...others } = JSON.parse(shipped) as { pairs: { perp?: object }[] }
  const spot = { ...others, pairs: pairs.filter(({ perp: terms }) => terms === undefined) }
  t.doesNotThrow(() => checkKeys(JSON.stringify(spot)), 'with limits of perpetuals, but without any')
  for (const [name, variant] of Object.entries(VARIANTS)) t.doesNotThrow(() => checkKeys(genesisText(variant)), name)
  t.end()
})

/** The shipped document with its part at `path` changed. */
function withKey(path: readonly (string | number)[], key: string, value: unknown = 1): string {
  const document = JSON.parse(shipped) as unknown
  const part = path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], document)
  Object.assign(part as object, { [key]: value })
  return JSON.stringify(document)
}

const perp = (JSON.parse(shipped) as { pairs: { perp?: object }[] }).pairs.findIndex((pair) => pair.perp !== undefined)
for (const [path, key, says] of [
  [[], 'faucett', 'genesis: there is no key "faucett"'],
  [['limits'], 'ordres', 'genesis: limits: there is no key "ordres"'],
  [['limits'], 'conditionalOrder', 'genesis: limits: there is no key "conditionalOrder"'],
  [['pairs', 0], 'makerFeeBp', 'genesis: pairs BTC/USDC: there is no key "makerFeeBp"'],
  [['pairs', 0], 'indexBandBps', 'genesis: pairs BTC/USDC: there is no key "indexBandBps"'],
  [['pairs', perp, 'perp'], 'fundShareBp', 'genesis: pairs BTC/USDC-PERP: perp: there is no key "fundShareBp"'],
  [['pairs', perp, 'perp', 'riskTiers', 0], 'maxLeverge', 'genesis: pairs BTC/USDC-PERP: perp: riskTiers 1: there is no key "maxLeverge"'],
  [['applications', 0], 'origins', 'genesis: applications'],
] as const) {
  t.test(`${path.join('.')} ${key}`, (t) => {
    const text = withKey(path, key)
    t.throws(() => checkKeys(text), GenesisError)
    try {
      checkKeys(text)
    } catch (error) {
      t.ok((error as Error).message.startsWith(says), (error as Error).message)
    }
    t.doesNotThrow(() => parseGenesis(text), 'an exchange that began with it goes on')
    t.end()
  })
}

t.test('what may be meant is one that is not there already', (t) => {
  const document = JSON.parse(shipped) as { pairs: Record<string, unknown>[] }
  const { makerFeeBps, ...pair } = document.pairs[0]!
  document.pairs[0] = { ...pair, makerFeeBp: makerFeeBps, makerFeeBps: '1' }
  t.throws(() => checkKeys(JSON.stringify(document)), /there is no key "makerFeeBp"$/)
  const misspelt = { ...JSON.parse(shipped) as object, referralShare: [] }
  t.throws(() => checkKeys(JSON.stringify(misspelt)), /there is no key "referralShare"; referralShares may be meant$/)
  t.equal(nearWord('ordres', ['orders', 'openOrders']), 'orders')
  t.equal(nearWord('leverage', ['quantity', 'side']), null)
  t.end()
})
