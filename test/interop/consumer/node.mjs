/** trade.mjs as a program: the environment says where the exchange and the wallets' signer are. */
import * as api from '@ringbook/client'
import { trade } from './trade.mjs'
import { wallets } from './wallets.mjs'

const { EXCHANGE, SIGNER } = process.env
console.log(JSON.stringify(await trade(api, { baseUrl: EXCHANGE, makers: await wallets(SIGNER) })))
