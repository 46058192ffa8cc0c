/** Perpetuals in the state: what the genesis says of them, as numbers in rows (margin_rows.ts). */
import { TERMS } from './columns.ts'
import { IMPACT_MOST, PERP, PERP_TERMS, TIER } from './margin_rows.ts'
import { perpRow, perpTermsRow, set, setF64, setI64, termsRow, tierRow } from './rows.ts'
import type { RiskTier } from './perp_terms.ts'
import type { State } from './shape.ts'

/** Ticks × lots of a notional in atoms: at least 1, and what a product of the walk may have (margin/impact_price.ts). */
function impactOf(atoms: bigint, tickLotAtoms: bigint): number {
  const units = (atoms + tickLotAtoms - 1n) / tickLotAtoms
  return Math.max(1, Math.min(IMPACT_MOST, Number(units)))
}

/** The perpetuals of a new state: no price yet, and the cap of the genesis. */
export function beginPerps(state: State): void {
  for (const { index, perp } of state.genesis.pairs) {
    if (perp !== null) setF64(state, perpRow(state, index), PERP.OPEN_CAP, perp.openCapLots)
  }
}

/** Terms and ladders of all perpetuals; derived from the document. */
export function writePerpTerms(state: State): void {
  let number = 0
  for (const { index, perp, tickLotAtoms } of state.genesis.pairs) {
    if (perp === null) continue
    number++
    set(state, termsRow(state, index), TERMS.PERP, 1)
    const row = perpTermsRow(state, index)
    set(state, row, PERP_TERMS.NUMBER, number)
    set(state, row, PERP_TERMS.TIERS, perp.tiers.length)
    set(state, row, PERP_TERMS.MIN_LEVERAGE, perp.minLeverage)
    set(state, row, PERP_TERMS.MAX_LEVERAGE, perp.tiers[0]!.maxLeverage)
    set(state, row, PERP_TERMS.MAX_POSITION_LOTS, perp.maxPositionLots)
    set(state, row, PERP_TERMS.LIQUIDATION_FEE_PPM, perp.liquidationFeePpm)
    set(state, row, PERP_TERMS.RATE_CAP, perp.rateCap)
    set(state, row, PERP_TERMS.MARK_BAND_PPM, perp.markBandPpm)
    set(state, row, PERP_TERMS.INDEX_BAND_PPM, perp.indexBandPpm)
    setF64(state, row, PERP_TERMS.FUNDING_MS, perp.fundingIntervalSeconds * 1000)
    setF64(state, row, PERP_TERMS.STALE_MS, perp.staleMs)
    setF64(state, row, PERP_TERMS.BASIS_MS, perp.basisMs)
    set(state, row, PERP_TERMS.REFERENCE, perp.reference)
    set(state, row, PERP_TERMS.FUND_SHARE, perp.fundSharePpm)
    setF64(state, row, PERP_TERMS.FUND_ALLOWANCE, perp.fundAllowance)
    setF64(state, row, PERP_TERMS.JUMP_MS, perp.jumpWindowMs)
    set(state, row, PERP_TERMS.DELEVERAGE_MINUTES, perp.deleverageMinutes)
    set(state, row, PERP_TERMS.DELEVERAGE_PPM, perp.deleveragePpm)
    const [{ initialPpm, maintenancePpm }] = perp.tiers as [RiskTier]
    set(state, row, PERP_TERMS.BASIS_PPM, Math.floor((initialPpm - maintenancePpm) / 2))
    setF64(state, row, PERP_TERMS.IMPACT, impactOf(perp.impactAtoms, tickLotAtoms))
    perp.tiers.forEach((tier, place) => {
      const at = tierRow(state, index, place)
      setI64(state, at, TIER.LOWER_BOUND, tier.lowerBound)
      setI64(state, at, TIER.INITIAL_DEDUCTION, tier.initialDeduction)
      setI64(state, at, TIER.MAINTENANCE_DEDUCTION, tier.maintenanceDeduction)
      set(state, at, TIER.INITIAL_PPM, tier.initialPpm)
      set(state, at, TIER.MAINTENANCE_PPM, tier.maintenancePpm)
      set(state, at, TIER.MAX_LEVERAGE, tier.maxLeverage)
    })
  }
}
