// SPDX-License-Identifier: MIT
// Where the money of the exchange is.
pragma solidity 0.8.37;

import {Guarded, Tokens} from "./Tokens.sol";
import {Merkle} from "./Merkle.sol";
import {Roles} from "./Roles.sol";

/// Takes deposits, pays what the operator authorised, keeps the roots of settled batches.
///
/// What always holds, for every token that does what ERC-20 says:
/// - its balance here is at least what Deposit events told minus what Withdrawal events told: a deposit is counted by what arrived, a
///   withdrawal takes its amount to the atom or reverts, and nothing else moves a token that was ever listed;
/// - a nonce pays once, here only, on this chain only, before its deadline only, and only to the destination that was signed, whoever
///   sends the transaction;
/// - of one token no more than its limit leaves in one day (UTC);
/// - batches are numbered without gaps and their `through` rises; none is ever changed.
///
/// What a token does that shrinks balances by itself is beyond this contract: such tokens are not to be listed.
contract Vault is Roles, Guarded {
    struct Token {
        bool listed;
        /// Whether it was ever listed, which keeps it from being rescued.
        bool known;
        /// Day (UTC, since 1970) of the last withdrawal.
        uint64 day;
        /// What left on it.
        uint256 used;
        /// Most that leaves in a day; type(uint256).max is no limit.
        uint256 dailyLimit;
    }

    struct Batch {
        uint64 through;
        uint64 postedAt;
        uint32 trades;
        uint32 balances;
        bytes32 tradesRoot;
        bytes32 balancesRoot;
    }

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant WITHDRAWAL =
        keccak256("Withdrawal(address token,uint256 amount,address destination,uint256 nonce,uint256 deadline)");
    bytes32 private constant NAME = keccak256("Ringbook Vault");
    bytes32 private constant VERSION = keccak256("1");
    /// Half the order of secp256k1: of the two signatures (s, n - s) only the lower one counts.
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// Deposits so far: the id of the last one.
    uint256 public depositCount;
    /// Number of the last batch posted; 0 is none.
    uint64 public lastBatch;
    /// Used nonces: bit `nonce % 256` of word `nonce / 256`.
    mapping(uint256 word => uint256 bits) public nonceBitmap;
    mapping(address token => Token) private entries;
    mapping(uint64 number => Batch) private posted;

    /// `amount` is what arrived. `from` gave it: the depositor himself or the forwarder of a deposit address.
    event Deposit(
        uint256 indexed id,
        address indexed token,
        address indexed beneficiary,
        bytes16 application,
        uint256 amount,
        address from
    );
    event Withdrawal(uint256 indexed nonce, address indexed token, address indexed destination, uint256 amount);
    event BatchPosted(
        uint64 indexed number,
        uint64 through,
        uint32 trades,
        bytes32 tradesRoot,
        uint32 balances,
        bytes32 balancesRoot
    );
    event TokenSet(address indexed token, bool listed, uint256 dailyLimit);
    event Rescued(address indexed token, address indexed to, uint256 amount);

    error TokenNotListed(address token);
    /// Never to be rescued: users' money may be in it.
    error TokenKnown(address token);
    error NotAContract(address token);
    error ZeroAmount();
    error NothingArrived();
    /// The balance fell by another amount than was to be paid.
    error WrongAmountLeft(uint256 expected, uint256 left);
    error BadDestination(address destination);
    error Expired(uint256 deadline);
    error NonceUsed(uint256 nonce);
    error BadSignature();
    error DailyLimit(uint256 remaining);
    error BatchOutOfOrder(uint64 expected);
    error ThroughNotRising(uint64 last);

    constructor(address owner_, address operator_) Roles(owner_, operator_) {}

    /// Takes `amount` from the sender for an account of the exchange: this wallet in this application (16 bytes of its UUID, zero is the
    /// default one). What a token keeps on the way is not credited.
    function deposit(address token, uint256 amount, address beneficiary, bytes16 application) external whenOpen guarded {
        if (!entries[token].listed) revert TokenNotListed(token);
        if (beneficiary == address(0)) revert ZeroAddress();
        if (amount == 0) revert ZeroAmount();
        uint256 before = Tokens.held(token, address(this));
        Tokens.pull(token, msg.sender, address(this), amount);
        uint256 held = Tokens.held(token, address(this));
        if (held <= before) revert NothingArrived();
        emit Deposit(++depositCount, token, beneficiary, application, held - before, msg.sender);
    }

    /// Pays what the operator signed. Anybody may send it, and it pays the same.
    function withdraw(
        address token,
        uint256 amount,
        address destination,
        uint256 nonce,
        uint256 deadline,
        bytes calldata signature
    ) external whenOpen guarded {
        if (block.timestamp > deadline) revert Expired(deadline);
        if (!entries[token].listed) revert TokenNotListed(token);
        if (amount == 0) revert ZeroAmount();
        if (destination == address(0) || destination == address(this)) revert BadDestination(destination);
        bytes32 content = keccak256(abi.encode(WITHDRAWAL, token, amount, destination, nonce, deadline));
        if (signerOf(content, signature) != operator) revert BadSignature();
        useNonce(nonce);
        useLimit(token, amount);
        emit Withdrawal(nonce, token, destination, amount);

        uint256 before = Tokens.held(token, address(this));
        Tokens.send(token, destination, amount);
        uint256 held = Tokens.held(token, address(this));
        uint256 left = held > before ? 0 : before - held;
        if (left != amount) revert WrongAmountLeft(amount, left);
    }

    function isNonceUsed(uint256 nonce) public view returns (bool) {
        return nonceBitmap[nonce / 256] & (1 << (nonce % 256)) != 0;
    }

    /// Lists a token, or takes it off the list: then it is neither taken nor paid. What left today still counts under a new limit.
    function setToken(address token, bool listed, uint256 dailyLimit) external onlyOwner {
        if (listed && token.code.length == 0) revert NotAContract(token);
        Token storage entry = entries[token];
        entry.listed = listed;
        if (listed) entry.known = true;
        entry.dailyLimit = dailyLimit;
        emit TokenSet(token, listed, dailyLimit);
    }

    function tokens(address token) external view returns (bool listed, uint256 dailyLimit, uint256 day, uint256 used) {
        Token storage entry = entries[token];
        return (entry.listed, entry.dailyLimit, entry.day, entry.used);
    }

    /// What may still leave today, by the limit alone; 0 of a token that is not listed.
    function remainingToday(address token) public view returns (uint256) {
        Token storage entry = entries[token];
        if (!entry.listed) return 0;
        uint256 used = entry.day == today() ? entry.used : 0;
        return entry.dailyLimit > used ? entry.dailyLimit - used : 0;
    }

    /// Gives back what was sent here by mistake. Only tokens that were never listed: the owner has no way to the money of users.
    function rescue(address token, address to, uint256 amount) external onlyOwner guarded {
        if (entries[token].known) revert TokenKnown(token);
        if (to == address(0)) revert ZeroAddress();
        emit Rescued(token, to, amount);
        Tokens.send(token, to, amount);
    }

    /// Roots of one batch of settlement: of its trades, and of all balances at its end. `through` is the last sequence in it.
    function postBatch(
        uint64 number,
        uint64 through,
        uint32 trades,
        bytes32 tradesRoot,
        uint32 balances,
        bytes32 balancesRoot
    ) external onlyOperator {
        uint64 last = lastBatch;
        if (number != last + 1) revert BatchOutOfOrder(last + 1);
        if (through <= posted[last].through) revert ThroughNotRising(posted[last].through);
        lastBatch = number;
        posted[number] = Batch(through, uint64(block.timestamp), trades, balances, tradesRoot, balancesRoot);
        emit BatchPosted(number, through, trades, tradesRoot, balances, balancesRoot);
    }

    function batches(uint64 number)
        external
        view
        returns (
            uint64 through,
            uint32 trades,
            bytes32 tradesRoot,
            uint32 balances,
            bytes32 balancesRoot,
            uint64 postedAt
        )
    {
        Batch storage batch = posted[number];
        return (batch.through, batch.trades, batch.tradesRoot, batch.balances, batch.balancesRoot, batch.postedAt);
    }

    /// Whether these bytes are the trade at this place of the batch. False of a batch that was not posted.
    function verifyTrade(uint64 number, bytes calldata leafBytes, uint256 index, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        return Merkle.includes(posted[number].tradesRoot, posted[number].trades, leafBytes, index, proof);
    }

    /// The same of a balance.
    function verifyBalance(uint64 number, bytes calldata leafBytes, uint256 index, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        return Merkle.includes(posted[number].balancesRoot, posted[number].balances, leafBytes, index, proof);
    }

    /// Domain of EIP-712. Worked out at every call: after a fork of the chain a signature is worth something on one side only.
    function domainSeparator() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN, NAME, VERSION, block.chainid, address(this)));
    }

    /// Whoever signed this content. One form only: 65 bytes, v 27 or 28, the lower s. Anything else reverts, and so does no signer.
    function signerOf(bytes32 content, bytes calldata signature) private view returns (address signer) {
        if (signature.length != 65) revert BadSignature();
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) revert BadSignature();
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domainSeparator(), content));
        signer = ecrecover(digest, v, bytes32(signature[0:32]), s);
        if (signer == address(0)) revert BadSignature();
    }

    function useNonce(uint256 nonce) private {
        if (isNonceUsed(nonce)) revert NonceUsed(nonce);
        nonceBitmap[nonce / 256] |= 1 << (nonce % 256);
    }

    function useLimit(address token, uint256 amount) private {
        uint256 remaining = remainingToday(token);
        if (amount > remaining) revert DailyLimit(remaining);
        Token storage entry = entries[token];
        uint64 day = today();
        entry.used = entry.day == day ? entry.used + amount : amount;
        entry.day = day;
    }

    function today() private view returns (uint64) {
        return uint64(block.timestamp / 1 days);
    }
}
