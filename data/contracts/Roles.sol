// SPDX-License-Identifier: MIT
// Who may do what with the vault.
pragma solidity 0.8.37;

/// The owner (a cold key) lists tokens, names the operator and opens the vault again. The operator (a hot key) signs withdrawals, posts
/// batches and may only ever stop things, never start them. Both are changed in two steps: whoever is proposed must send a transaction
/// himself, so that no role is ever given to an address that nobody has. Proposing zero takes a proposal back.
///
/// From the block in which a new operator accepts, nothing the old one signed is worth anything.
abstract contract Roles {
    address public owner;
    address public pendingOwner;
    address public operator;
    address public pendingOperator;
    bool public paused;

    event OwnerProposed(address indexed owner);
    event OwnerChanged(address indexed before, address indexed owner);
    event OperatorProposed(address indexed operator);
    event OperatorChanged(address indexed before, address indexed operator);
    event Paused(address by);
    event Unpaused(address by);

    /// The sender has not this role.
    error Forbidden();
    error ZeroAddress();
    error VaultPaused();
    error NotPaused();

    modifier onlyOwner() {
        if (msg.sender != owner) revert Forbidden();
        _;
    }

    modifier onlyOperator() {
        if (msg.sender != operator) revert Forbidden();
        _;
    }

    modifier whenOpen() {
        if (paused) revert VaultPaused();
        _;
    }

    constructor(address owner_, address operator_) {
        if (owner_ == address(0) || operator_ == address(0)) revert ZeroAddress();
        owner = owner_;
        operator = operator_;
        emit OwnerChanged(address(0), owner_);
        emit OperatorChanged(address(0), operator_);
    }

    function proposeOwner(address next) external onlyOwner {
        pendingOwner = next;
        emit OwnerProposed(next);
    }

    function acceptOwner() external {
        if (msg.sender != pendingOwner) revert Forbidden();
        emit OwnerChanged(owner, msg.sender);
        owner = msg.sender;
        pendingOwner = address(0);
    }

    function proposeOperator(address next) external onlyOwner {
        pendingOperator = next;
        emit OperatorProposed(next);
    }

    function acceptOperator() external {
        if (msg.sender != pendingOperator) revert Forbidden();
        emit OperatorChanged(operator, msg.sender);
        operator = msg.sender;
        pendingOperator = address(0);
    }

    /// Stops deposits and withdrawals. Batches move no money and go on.
    function pause() external whenOpen {
        if (msg.sender != owner && msg.sender != operator) revert Forbidden();
        paused = true;
        emit Paused(msg.sender);
    }

    function unpause() external onlyOwner {
        if (!paused) revert NotPaused();
        paused = false;
        emit Unpaused(msg.sender);
    }
}
