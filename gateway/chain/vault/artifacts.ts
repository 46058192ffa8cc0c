/**
 * The contracts as the exchange uses them: their interfaces, the compiled code in data/contracts/artifacts, and the deployer through which
 * they get the same addresses on every chain.
 */
import { parseAbi } from 'viem'
import type { Hex } from '../values.ts'

/** Creates code at addresses that depend on nothing but salt and code. On most chains already; the embedded one is given it. */
export const CREATE2_DEPLOYER: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
export const CREATE2_DEPLOYER_CODE: Hex =
  `0x7f${'ff'.repeat(31)}e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3`
/** Salt of all that is deployed. */
export const SALT: Hex = `0x${'00'.repeat(32)}`

export const VAULT_ABI = parseAbi([
  'function deposit(address token, uint256 amount, address beneficiary, bytes16 application)',
  'function withdraw(address token, uint256 amount, address destination, uint256 nonce, uint256 deadline, bytes signature)',
  'function isNonceUsed(uint256 nonce) view returns (bool)',
  'function setToken(address token, bool listed, uint256 dailyLimit)',
  'function tokens(address token) view returns (bool listed, uint256 dailyLimit, uint256 day, uint256 used)',
  'function remainingToday(address token) view returns (uint256)',
  'function pause()',
  'function unpause()',
  'function paused() view returns (bool)',
  'function acceptOperator()',
  'function operator() view returns (address)',
  'function owner() view returns (address)',
  'function domainSeparator() view returns (bytes32)',
  'function postBatch(uint64 number, uint64 through, uint32 trades, bytes32 tradesRoot, uint32 balances, bytes32 balancesRoot)',
  'function lastBatch() view returns (uint64)',
  'function batches(uint64 number) view returns (uint64 through, uint32 trades, bytes32 tradesRoot,' +
    ' uint32 balances, bytes32 balancesRoot, uint64 postedAt)',
  'event Deposit(uint256 indexed id, address indexed token, address indexed beneficiary,' +
    ' bytes16 application, uint256 amount, address from)',
  'event Withdrawal(uint256 indexed nonce, address indexed token, address indexed destination, uint256 amount)',
  'event BatchPosted(uint64 indexed number, uint64 through, uint32 trades, bytes32 tradesRoot, uint32 balances, bytes32 balancesRoot)',
])

export const FACTORY_ABI = parseAbi([
  'struct Sweep { address beneficiary; bytes16 application; address token; }',
  'function setVault(address vault)',
  'function vault() view returns (address)',
  'function owner() view returns (address)',
  'function addressOf(address beneficiary, bytes16 application) view returns (address)',
  'function sweep(address beneficiary, bytes16 application, address token)',
  'function sweepMany(Sweep[] sweeps)',
  'event Swept(address indexed forwarder, address indexed token, uint256 amount)',
])

export const TOKEN_ABI = parseAbi([
  'function initialize(string name, string symbol, uint8 decimals, address minter)',
  'function mint(bytes32 id, address to, uint256 amount)',
  'function minted(bytes32 id) view returns (bool)',
  'function minter() view returns (address)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address owner) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

export { artifact, type Artifact, type ArtifactName } from './artifact_file.ts'
