// SPDX-License-Identifier: MIT
// Tokens as they are, not as ERC-20 says: no return value, false instead of a revert, a fee taken on the way, calls back into us.
pragma solidity 0.8.37;

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
}

/// Calls of any token. Each reverts unless the token did what it was asked for, as far as it says so itself; what really moved is for
/// the caller to measure.
library Tokens {
    error TokenFailed(address token);

    function send(address token, address to, uint256 amount) internal {
        perform(token, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    function pull(address token, address from, address to, uint256 amount) internal {
        perform(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    function allow(address token, address spender, uint256 amount) internal {
        perform(token, abi.encodeCall(IERC20.approve, (spender, amount)));
    }

    function held(address token, address account) internal view returns (uint256) {
        return IERC20(token).balanceOf(account);
    }

    /// Success is a call that did not revert and returned either true, or nothing at all from an address that has code: without the
    /// last condition every call of an empty address would succeed.
    function perform(address token, bytes memory data) private {
        (bool done, bytes memory answer) = token.call(data);
        bool said = answer.length == 0 ? token.code.length > 0 : answer.length >= 32 && uint256(bytes32(answer)) == 1;
        if (!done || !said) revert TokenFailed(token);
    }
}

/// One call at a time: a token that calls back while it is called finds the door shut.
abstract contract Guarded {
    uint256 private constant OPEN = 1;
    uint256 private constant SHUT = 2;
    /// Never zero after the constructor, so that shutting costs no new storage.
    uint256 private door = OPEN;

    error Reentered();

    modifier guarded() {
        if (door == SHUT) revert Reentered();
        door = SHUT;
        _;
        door = OPEN;
    }
}
