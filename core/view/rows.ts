/** Rows for readers outside the core: what of state/rows.ts reads, and nothing that writes. */
export { accountRow, agentRow, applicationRow, bytesOf, get, getF64, getI64, orderRow, pairRow } from '../state/rows.ts'
