/** What to leave out of a stream, or to put in. */
export interface WorkloadOptions {
  /** Sub-accounts, transfers, spend limits and orders that masters pay for. */
  families?: boolean
  clients?: number | undefined
  /** No client order ids (drawn and thrown away, so that the rest of the stream is the same). */
  unlabelled?: boolean
  /** Every label is new, so that none is ever refused. */
  freshLabels?: boolean
  /** The last so many clients mostly just sign in, and days pass quickly. */
  visitors?: number | undefined
  /** Losses of the journal that were accepted; the sequencer writes them alone in their batch. */
  losses?: boolean
  /** The exchange itself enters orders of accounts. */
  ownOrders?: boolean | undefined
  /** Accounts set deadlines at which their orders are cancelled, and have connections that end. */
  deadlines?: boolean | undefined
  /** TWAP orders that wait for prices and times. */
  waiting?: boolean | undefined
  /** Of margin trading: leaders and those who follow them. */
  copies?: boolean | undefined
  /** Applications charge for fills, and the operator shares what the house earns. */
  builder?: boolean | undefined
  /** Accounts bring others, and earn of their fees. */
  referrals?: boolean | undefined
  /** Money comes from chains and goes there. */
  vault?: boolean | undefined
  /** Launches, and claims of their makers' leases. */
  launches?: boolean | undefined
  /** The operator lists assets and pairs and changes terms; `genesis` must have them as they are now. */
  listing?: boolean | undefined
}
