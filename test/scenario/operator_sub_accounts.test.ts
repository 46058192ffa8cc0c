/**
 * Promise: an operator finds every sub-account whose wallet has not agreed to its master, oldest first, page after page, and no other
 * account; a place to go on that is none is refused.
 */
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { PROFILE, PROFILE_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { orderId, userId } from '../../core/layout/ids.ts'
import { createAccount } from '../../core/programs/accounts.ts'
import { Applications } from '../../core/view/applications.ts'
import type { OperatorContext } from '../../gateway/operator/route.ts'
import { handlerOf } from '../../gateway/operator/serve.ts'
import { ListUnconsented, UNCONSENTED_MAX, type UnconsentedList } from '../../gateway/operator/sub_accounts.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const ACCOUNTS = 3 * UNCONSENTED_MAX
const assets: [string, number, string][] = [['BTC', 8, '1'], ['USD', 6, '1']]
const genesis = genesisText({ limits: { accounts: ACCOUNTS }, dailyLimit: 1, assets, pairs: [pairSpec('BTC/USD')] })
const state = createState(parseGenesis(genesis))
const context = { state, applications: new Applications(state, new Int32Array(16)) } as unknown as OperatorContext
const list = handlerOf(ListUnconsented, context)

async function ask(after?: string): Promise<{ status: number; json: UnconsentedList }> {
  const url = `/sub-accounts/unconsented${after === undefined ? '' : `?after=${after}`}`
  const { status, body } = await list({ url } as IncomingMessage)
  return { status, json: JSON.parse(body) as UnconsentedList }
}

t.test('all of them and nobody else', async (t) => {
  t.same((await ask()).json, { subAccounts: [], next: null }, 'nobody yet')
  const expected: number[] = []
  for (let account = 0; account < ACCOUNTS; account++) {
    createAccount(state, 0, Int32Array.from([account, 1, 2, 3, 4]), 0)
    // A master and four sub-accounts, of which one agreed.
    if (account % 5 === 0) continue
    state.profiles[account * PROFILE_WORDS + PROFILE.MASTER] = account - (account % 5) + 1
    if (account % 5 === 3) state.profiles[account * PROFILE_WORDS + PROFILE.CONSENTED] = 1
    else expected.push(account)
  }
  const found: string[] = []
  let next: string | null = null
  let pages = 0
  do {
    const { json } = await ask(next ?? undefined)
    found.push(...json.subAccounts.map((each) => `${each.userId} of ${each.master.userId}`))
    next = json.next
    pages++
  } while (next !== null && pages < 10)
  const id = (account: number): string => userId(0, account)
  t.same(found, expected.map((account) => `${id(account)} of ${id(account - (account % 5))}`))
  t.equal(pages, 2)
  const [first] = (await ask()).json.subAccounts
  t.match(first, { address: /^0x[0-9a-fA-F]{40}$/, createdAt: '1970-01-01T00:00:00.000Z', master: { address: /^0x/ } })
  for (const wrong of ['x', orderId(1, 1), userId(5, 1), userId(0, ACCOUNTS)]) t.equal((await ask(wrong)).status, 400, wrong)
})
