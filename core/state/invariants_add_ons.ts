/** What must hold of what applications charge (ledger/add_ons.ts): of each order at rest, of the applications, of the scalars. */
import { BUILDER_CAP_MOST_BPS, PPM_OF_BPS } from '../layout/builder.ts'
import { WHOLE_PPM } from '../lib/ppm.ts'
import { Flag } from '../layout/flags.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, ADD_ON, APPLICATION, ORDER, SCALAR } from './columns.ts'
import { accountRow, addOnRow, applicationRow, get, getI64, orderRow, scalar } from './rows.ts'
import type { State } from './state.ts'

const PPM = 1_000_000n
const MOST_PPM = BUILDER_CAP_MOST_BPS * PPM_OF_BPS

/** What the application of the BUY at rest in `slot` may still charge, when what is left of it is worth `value` quote atoms. */
export function addedToBid(state: State, slot: number, value: bigint): bigint {
  if ((get(state, orderRow(state, slot), ORDER.FLAGS) & Flag.ADD_ON) === 0) return 0n
  const row = addOnRow(state, slot)
  const sum = getI64(state, row, ADD_ON.NUMERATOR) + value * BigInt(get(state, row, ADD_ON.MAKER_PPM))
  return sum / PPM - getI64(state, row, ADD_ON.CHARGED)
}

/** `live`: slots of the orders at rest. */
export function checkAddOns(state: State, live: readonly number[]): void {
  for (const slot of live) if ((get(state, orderRow(state, slot), ORDER.FLAGS) & Flag.ADD_ON) !== 0) checkAddOn(state, slot)
  for (let application = 0; application < scalar(state, SCALAR.APPLICATIONS); application++) checkEnrollment(state, application)
  const [cap, share] = [scalar(state, SCALAR.BUILDER_CAP_BPS), scalar(state, SCALAR.REVENUE_SHARE_PPM)]
  if (cap < 0 || cap > BUILDER_CAP_MOST_BPS || share < 0 || share > WHOLE_PPM) broken('F', `cap ${cap} bps, revenue share ${share} ppm`)
}

function checkAddOn(state: State, slot: number): void {
  if (slot >= scalar(state, SCALAR.ADD_ONS_USED)) broken('F', `the add-on of slot ${slot} is in no snapshot`)
  const order = orderRow(state, slot)
  const row = addOnRow(state, slot)
  const rates = [get(state, row, ADD_ON.TAKER_PPM), get(state, row, ADD_ON.MAKER_PPM)]
  const within = rates.every((ppm) => ppm >= 0 && ppm <= MOST_PPM) && rates.some((ppm) => ppm > 0)
  if (!within) broken('F', `slot ${slot} adds ${rates.join(', ')} ppm`)
  const [sum, charged] = [getI64(state, row, ADD_ON.NUMERATOR), getI64(state, row, ADD_ON.CHARGED)]
  const sells = (get(state, order, ORDER.FLAGS) & Flag.SELL) !== 0
  const exact = (get(state, order, ORDER.FLAGS) & Flag.MARGIN) !== 0 || !sells
  const due = exact ? charged === sum / PPM : charged >= 0n && charged <= sum / PPM
  if (!due) broken('F', `slot ${slot} was charged ${charged} for a sum of ${sum}`)
  const application = get(state, accountRow(state, get(state, order, ORDER.ACCOUNT)), ACCOUNT.APPLICATION)
  if (get(state, applicationRow(state, application), APPLICATION.PAYOUT) === 0) broken('F', `slot ${slot} pays nobody`)
}

function checkEnrollment(state: State, application: number): void {
  const row = applicationRow(state, application)
  const payout = get(state, row, APPLICATION.PAYOUT) - 1
  const named = (what: string): string => `application ${application} ${what}`
  if (get(state, row, APPLICATION.ENROLLED) !== 0 && payout < 0) broken('F', named('takes part without a payout account'))
  const isOwn = payout < 0 || get(state, accountRow(state, payout), ACCOUNT.APPLICATION) === application
  if (!isOwn) broken('F', named(`pays account ${payout}, which is another's`))
  for (const word of [APPLICATION.BUILDER_BPS, APPLICATION.BUILDER_MAKER_BPS]) {
    const bps = get(state, row, word)
    if (bps < 0 || bps > BUILDER_CAP_MOST_BPS) broken('F', named(`adds ${bps} bps`))
  }
  const most = get(state, row, APPLICATION.MOST_MAKER_BPS)
  if (get(state, row, APPLICATION.BUILDER_MAKER_BPS) > most) broken('F', named(`adds more for makers than ${most} bps`))
}
