// SPDX-License-Identifier: MIT
// Deposit addresses: a plain transfer to one of them becomes a deposit of its owner.
pragma solidity 0.8.37;

import {Guarded, Tokens} from "./Tokens.sol";

interface IVault {
    function deposit(address token, uint256 amount, address beneficiary, bytes16 application) external;
}

/// Stands at one deposit address, from the first sweep on. Knows nothing but its factory, so that its init code is the same for all and
/// the address follows from factory, beneficiary and application alone.
contract DepositForwarder {
    address private immutable factory = msg.sender;

    error Forbidden();

    /// Deposits all it holds of a token. It pays nobody but a vault, through the vault's own deposit.
    function forward(address vault, address token, uint256 amount, address beneficiary, bytes16 application) external {
        if (msg.sender != factory) revert Forbidden();
        Tokens.allow(token, vault, amount);
        IVault(vault).deposit(token, amount, beneficiary, application);
    }
}

/// Gives every (beneficiary, application) an address before there is a contract at it. Anybody may sweep: the money always becomes a
/// deposit of the same beneficiary in the vault.
///
/// The same factory address on two chains gives the same deposit addresses. The vault's address may differ from chain to chain, and is
/// set later for that reason. Only ERC-20 tokens: a chain's own coin sent to a deposit address cannot be moved.
contract DepositFactory is Guarded {
    struct Sweep {
        address beneficiary;
        bytes16 application;
        address token;
    }

    bytes32 private constant FORWARDER = keccak256(type(DepositForwarder).creationCode);

    address public immutable owner;
    /// Where all sweeps go; zero at first, and nothing is swept.
    address public vault;

    event VaultSet(address indexed vault);
    /// `amount` is what the address held; the vault's Deposit tells what arrived.
    event Swept(address indexed forwarder, address indexed token, uint256 amount);

    error Forbidden();
    error ZeroAddress();
    error NotAContract(address vault);
    error NoVault();
    error NothingToSweep(address forwarder, address token);

    constructor(address owner_) {
        if (owner_ == address(0)) revert ZeroAddress();
        owner = owner_;
    }

    function setVault(address next) external {
        if (msg.sender != owner) revert Forbidden();
        if (next.code.length == 0) revert NotAContract(next);
        vault = next;
        emit VaultSet(next);
    }

    /// The deposit address of this wallet in this application. Reverts for the zero wallet: no vault would take such a deposit.
    function addressOf(address beneficiary, bytes16 application) public view returns (address) {
        if (beneficiary == address(0)) revert ZeroAddress();
        bytes32 salt = saltOf(beneficiary, application);
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, FORWARDER)))));
    }

    /// Makes a deposit of what is at the address. The forwarder is created at the first sweep.
    function sweep(address beneficiary, bytes16 application, address token) external guarded {
        address forwarder = addressOf(beneficiary, application);
        if (!move(forwarder, beneficiary, application, token)) revert NothingToSweep(forwarder, token);
    }

    /// Several at once. Empty addresses are passed over, so that nobody can spoil the others by sweeping one of them first.
    function sweepMany(Sweep[] calldata sweeps) external guarded {
        for (uint256 i = 0; i < sweeps.length; i++) {
            Sweep calldata one = sweeps[i];
            move(addressOf(one.beneficiary, one.application), one.beneficiary, one.application, one.token);
        }
    }

    function move(address forwarder, address beneficiary, bytes16 application, address token) private returns (bool) {
        if (vault == address(0)) revert NoVault();
        uint256 amount = Tokens.held(token, forwarder);
        if (amount == 0) return false;
        if (forwarder.code.length == 0) new DepositForwarder{salt: saltOf(beneficiary, application)}();
        DepositForwarder(forwarder).forward(vault, token, amount, beneficiary, application);
        emit Swept(forwarder, token, amount);
        return true;
    }

    function saltOf(address beneficiary, bytes16 application) private pure returns (bytes32) {
        return keccak256(abi.encode(beneficiary, application));
    }
}
