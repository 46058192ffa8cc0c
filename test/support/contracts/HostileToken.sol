// SPDX-License-Identifier: MIT
// For tests: a token in every way in which one can be wrong.
pragma solidity 0.8.37;

/// Keeps shares, so that all balances can be shrunk at once. What a transfer does and says is its mode; `hook` is called on the way.
contract HostileToken {
    enum Mode {
        Honest,
        /// Moves and returns nothing, as some of the oldest tokens do.
        Silent,
        /// Moves nothing and says so.
        False,
        /// Moves nothing and says that it did.
        Lies,
        Reverts,
        /// A tenth of what is sent does not arrive.
        Fee,
        /// The sender pays a tenth more than what is sent.
        Surcharge,
        /// Moves and returns 2, which is no bool.
        Two,
        /// Moves and returns one byte.
        Short,
        /// Takes all gas.
        Endless,
        /// Takes from the receiver instead.
        Backwards
    }
    /// In which call the hook is called: 0 never, 1 transfer, 2 transferFrom, 3 approve.
    Mode public mode;
    uint256 public hookAt;
    address public target;
    bytes public data;
    bool public hookDone;
    bytes public hookAnswer;
    uint256 public scale = 1e18;
    mapping(address => uint256) private shares;
    mapping(address => mapping(address => uint256)) public allowance;

    function setMode(Mode next) external {
        mode = next;
    }

    function setHook(uint256 call_, address target_, bytes calldata data_) external {
        (hookAt, target, data) = (call_, target_, data_);
        hookDone = false;
        hookAnswer = "";
    }

    /// All balances become this part of what they were, in 1e18.
    function rebase(uint256 part) external {
        scale = (scale * part) / 1e18;
    }

    function give(address to, uint256 amount) external {
        shares[to] += (amount * 1e18) / scale;
    }

    /// The token itself as a user or an owner of the vault.
    function execute(address where, bytes calldata call_) external {
        (bool done, bytes memory said) = where.call(call_);
        if (!done) assembly { revert(add(said, 32), mload(said)) }
    }

    function balanceOf(address account) public view returns (uint256) {
        return (shares[account] * scale) / 1e18;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        callHook(3);
        return answer();
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        callHook(1);
        move(msg.sender, to, amount);
        return answer();
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        callHook(2);
        move(from, to, amount);
        return answer();
    }

    function callHook(uint256 call_) private {
        if (hookAt != call_) return;
        (hookDone, hookAnswer) = target.call(data);
    }

    function move(address from, address to, uint256 amount) private {
        if (mode == Mode.Reverts) revert("no");
        if (mode == Mode.Endless) while (true) {}
        if (mode == Mode.False || mode == Mode.Lies) return;
        if (mode == Mode.Backwards) (from, to) = (to, from);
        uint256 part = (amount * 1e18) / scale;
        shares[from] -= mode == Mode.Surcharge ? part + part / 10 : part;
        shares[to] += mode == Mode.Fee ? part - part / 10 : part;
    }

    function answer() private view returns (bool) {
        if (mode == Mode.Silent) assembly { return(0, 0) }
        if (mode == Mode.Two) assembly { mstore(0, 2) return(0, 32) }
        if (mode == Mode.Short) assembly { mstore(0, not(0)) return(0, 1) }
        return mode != Mode.False;
    }
}
