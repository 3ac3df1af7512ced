// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ed25519} from "Ed25519.sol";

/**
 * Vaults for tests, written from docs/reference/wire.md 12: the functions that clients and the node call, in the order of
 * checks, with the events, errors, counters and digests given there. `VaultV1` takes the nonces of `withdraw` and of
 * `executeAtomicSettlement` as uint256, `VaultV2` as uint64; everything else is common to both.
 *
 * The escape hatch (WDR-24, CHN-07; wire.md gives no ABI for it): administrators commit the root over what each account can withdraw. When
 * none was committed for the timeout, a user withdraws with a proof of the last root and a signature of the key that names the account.
 *
 * Not here: squashing and batch settlements, upgrades, the registry and the credential manager. Not audited: no funds of value belong into it.
 */
interface IExecutor {
    function onAtomicSettlement(address token, uint256 amount, bytes calldata data) external returns (uint256);
}

struct SignerConfig {
    bytes32 key;
    uint8 keyType;
    uint8 keyPrefix;
    uint32 weight;
    uint64 expiresAtNs;
    uint64 maxSigningWindowNs;
}

/** What both versions of a withdrawal carry. */
struct Payout {
    address tokenAddress;
    uint256 amount;
    uint256 nonce;
}

/** What both versions of a settlement carry. */
struct Settlement {
    address tokenOut;
    uint256 amountOut;
    address tokenIn;
    uint256 amountIn;
    uint8 mode;
    bytes32 user;
    uint64 account;
    uint256 nonce;
    uint256 validUntil;
}

abstract contract VaultBase {
    error Expired();
    error InvalidNonce(uint256 expected, uint256 given);
    error InvalidSignature();
    error NotExecutor();
    error TransferFromFailed();
    error TransferFailed();
    error SettlerNotApproved();
    error MissedQuorum(uint256 provided, uint256 required);
    error DepositorNotApproved();
    error ZeroAmount();
    error FirstDepositBelowMinimum(uint256 minimum, uint256 actual);
    error NormalizationOverflow();
    error NormalizationRoundsToZero();
    error DecimalsCallFailed();
    error NotOwner();
    error EscapeClosed();
    error EscapeOpen();
    error InvalidProof();
    error ExceedsWithdrawable(uint256 left, uint256 amount);
    error NotCredentialManager();
    error NotAdmin();
    error InsufficientAmountFromExecutor(uint256 required, uint256 given);
    /** Not named by wire.md: malformed owner calls. */
    error InvalidSetting();

    event Deposited(bytes32 indexed user, uint256 indexed nonce, address indexed tokenAddress, uint256 amount);
    event DepositedWithConfig(
        bytes32 indexed user,
        uint256 indexed nonce,
        address indexed tokenAddress,
        uint256 amount,
        uint32 masterWeight,
        uint32 lowThreshold,
        uint32 mediumThreshold,
        uint32 highThreshold,
        SignerConfig[] signers,
        bytes masterConfigSignature
    );
    event Withdrew(bytes32 indexed user, uint256 indexed nonce, address tokenAddress, uint256 amount);
    event Settled(
        bytes32 indexed user,
        uint64 indexed account,
        uint256 indexed nonce,
        address tokenOut,
        uint256 amountOut,
        address tokenIn,
        uint256 amountIn,
        uint8 mode,
        bytes32 settler
    );

    event Checkpoint(uint64 indexed number, bytes32 root);
    event ForceWithdrew(bytes32 indexed user, uint256 indexed nonce, address tokenAddress, uint256 amount);

    /** What an account can withdraw of a token in this vault, as a root has it. */
    struct Withdrawable {
        bytes32 user;
        uint64 account;
        address token;
        uint256 amount;
        /** The user's counters that the root has booked: what was paid from these on is taken off. */
        uint64 withdrawals;
        uint64 settlements;
    }

    /** What left with one counter. */
    struct Paid {
        address token;
        uint256 amount;
    }

    bytes32 public constant CHECKPOINT_TYPEHASH = keccak256("CheckpointV1");
    bytes32 public constant ESCAPE_TYPEHASH = keccak256("ForcedWithdrawalV1");
    bytes32 public constant WITHDRAWAL_TYPEHASH = keccak256("WithdrawalApprovalV1");
    bytes32 public constant SETTLEMENT_TYPEHASH = keccak256("SettlementApprovalV2");
    uint256 private constant NORMAL_DECIMALS = 18;
    /** Half of the order of secp256k1: a greater s is the twin of a lower one. */
    uint256 private constant S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    address public owner;
    address public credentialManager;
    bytes32 public domainSeparator;
    address[] public administrators;
    mapping(address => bool) public isAdministrator;
    uint256 public withdrawalQuorum;
    mapping(address => bool) public canDeposit;
    mapping(address => uint256) public minFirstDepositAmounts;
    mapping(bytes32 => uint64) public depositCounts;
    mapping(bytes32 => uint64) public withdrawalCounts;
    mapping(bytes32 => mapping(uint64 => uint64)) public settlementCounts;
    bytes32 public checkpointRoot;
    uint64 public checkpointNumber;
    uint64 public checkpointTime;
    uint64 public escapeTimeout = 7 days;
    mapping(bytes32 => uint64) public forcedCounts;
    mapping(bytes32 => mapping(uint64 => Paid)) private withdrawn;
    mapping(bytes32 => mapping(uint64 => mapping(uint64 => Paid))) private settled;
    /** By root and leaf. */
    mapping(bytes32 => mapping(bytes32 => uint256)) public forced;
    bytes32[] private approvedSettlers;
    mapping(bytes32 => mapping(address => bool)) private isExecutor;

    constructor(address owner_, address credentialManager_) {
        if (owner_ == address(0) || credentialManager_ == address(0)) revert InvalidSetting();
        owner = owner_;
        credentialManager = credentialManager_;
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    // Deposits.

    function deposit(bytes32 user, address token, uint256 amount) external {
        uint256 nonce = _deposit(user, token, amount);
        emit Deposited(user, nonce, token, amount);
    }

    function deposit(
        bytes32 user,
        address token,
        uint256 amount,
        uint32 masterWeight,
        uint32 low,
        uint32 medium,
        uint32 high,
        SignerConfig[] calldata signers,
        bytes calldata masterConfigSignature
    ) external {
        uint256 nonce = _deposit(user, token, amount);
        emit DepositedWithConfig(
            user, nonce, token, amount, masterWeight, low, medium, high, signers, masterConfigSignature
        );
    }

    /** @return nonce the counter before the deposit. */
    function _deposit(bytes32 user, address token, uint256 amount) private returns (uint256 nonce) {
        if (!canDeposit[msg.sender]) revert DepositorNotApproved();
        if (amount == 0) revert ZeroAmount();
        nonce = depositCounts[user];
        uint256 minimum = minFirstDepositAmounts[token];
        if (nonce == 0 && amount < minimum) revert FirstDepositBelowMinimum(minimum, amount);
        _requireNormal(token, amount);
        depositCounts[user] = uint64(nonce) + 1;
        if (!_called(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), amount))) {
            revert TransferFromFailed();
        }
    }

    /** An amount must be a whole uint256 above zero in units of 18 decimals. */
    function _requireNormal(address token, uint256 amount) private view {
        (bool isDone, bytes memory result) = token.staticcall(abi.encodeWithSignature("decimals()"));
        if (!isDone || result.length != 32 || token.code.length == 0) revert DecimalsCallFailed();
        uint256 decimals = abi.decode(result, (uint256));
        if (decimals > type(uint8).max) revert DecimalsCallFailed();
        if (decimals <= NORMAL_DECIMALS) {
            if (amount > type(uint256).max / 10 ** (NORMAL_DECIMALS - decimals)) revert NormalizationOverflow();
        } else if (decimals - NORMAL_DECIMALS > 77 || amount < 10 ** (decimals - NORMAL_DECIMALS)) {
            revert NormalizationRoundsToZero();
        }
    }

    // Withdrawals.

    function _withdraw(
        Payout memory payout,
        bytes32 user,
        address target,
        uint256 validUntil,
        bytes32 epochHash,
        bytes[] calldata signatures
    ) internal {
        if (block.timestamp > validUntil) revert Expired();
        if (signatures.length < withdrawalQuorum) revert MissedQuorum(signatures.length, withdrawalQuorum);
        uint64 expected = withdrawalCounts[user];
        if (payout.nonce != expected) revert InvalidNonce(expected, payout.nonce);
        _requireQuorum(withdrawalDigest(payout, user, target, validUntil, epochHash), signatures);
        withdrawalCounts[user] = expected + 1;
        withdrawn[user][expected] = Paid(payout.tokenAddress, payout.amount);
        if (!_called(payout.tokenAddress, abi.encodeWithSignature("transfer(address,uint256)", target, payout.amount))) {
            revert TransferFailed();
        }
        emit Withdrew(user, payout.nonce, payout.tokenAddress, payout.amount);
    }

    /** Different administrators up to the quorum; signatures behind it are not read, a repeated one does not count. */
    function _requireQuorum(bytes32 digest, bytes[] calldata signatures) private view {
        uint256 quorum = withdrawalQuorum;
        address[] memory found = new address[](quorum);
        uint256 count = 0;
        for (uint256 i = 0; i < signatures.length && count < quorum; i++) {
            address signer = _recover(digest, signatures[i]);
            if (!isAdministrator[signer]) revert InvalidSignature();
            bool isRepeated = false;
            for (uint256 before = 0; before < count; before++) if (found[before] == signer) isRepeated = true;
            if (!isRepeated) found[count++] = signer;
        }
        if (count < quorum) revert MissedQuorum(count, quorum);
    }

    function withdrawalDigest(
        Payout memory payout,
        bytes32 user,
        address target,
        uint256 validUntil,
        bytes32 epochHash
    ) public view returns (bytes32) {
        bytes32[9] memory words = [
            WITHDRAWAL_TYPEHASH,
            domainSeparator,
            _padded(payout.tokenAddress),
            bytes32(payout.amount),
            user,
            bytes32(payout.nonce),
            bytes32(validUntil),
            epochHash,
            _padded(target)
        ];
        return keccak256(abi.encodePacked(words));
    }

    // The escape hatch.

    /** Begins when no checkpoint came for the timeout; a vault that never had one has no root to prove anything with. */
    function escapeMode() public view returns (bool) {
        return checkpointTime != 0 && block.timestamp > uint256(checkpointTime) + escapeTimeout;
    }

    /** Anybody may send what the administrators have signed; a number that is not higher is an older checkpoint. */
    function commitCheckpoint(bytes32 root, uint64 number, bytes[] calldata signatures) external {
        if (escapeMode()) revert EscapeOpen();
        if (number <= checkpointNumber) revert InvalidNonce(uint256(checkpointNumber) + 1, number);
        if (signatures.length < withdrawalQuorum) revert MissedQuorum(signatures.length, withdrawalQuorum);
        bytes32[4] memory words = [CHECKPOINT_TYPEHASH, domainSeparator, root, bytes32(uint256(number))];
        _requireQuorum(keccak256(abi.encodePacked(words)), signatures);
        checkpointRoot = root;
        checkpointNumber = number;
        checkpointTime = uint64(block.timestamp);
        emit Checkpoint(number, root);
    }

    function setEscapeTimeout(uint64 timeout) external onlyOwner {
        if (timeout == 0 || escapeMode()) revert InvalidSetting();
        escapeTimeout = timeout;
    }

    /** The owner's word that the node is back and has debited what was paid. */
    function endEscape() external onlyOwner {
        if (!escapeMode()) revert EscapeClosed();
        checkpointRoot = 0;
        checkpointTime = uint64(block.timestamp);
    }

    /** @param r first half of the user's Ed25519 signature over `forcedDigest`. @param s the second half. */
    function forceWithdraw(
        Withdrawable calldata leaf,
        uint256 amount,
        address target,
        bytes32[] calldata proof,
        bytes32 r,
        bytes32 s
    ) external {
        if (!escapeMode()) revert EscapeClosed();
        if (amount == 0) revert ZeroAmount();
        bytes32 name = leafOf(leaf);
        if (!_isIn(name, proof)) revert InvalidProof();
        uint256 gone = forced[checkpointRoot][name] + _paidSince(leaf);
        uint256 left = leaf.amount > gone ? leaf.amount - gone : 0;
        if (amount > left) revert ExceedsWithdrawable(left, amount);
        uint64 nonce = forcedCounts[leaf.user];
        bytes32 digest = forcedDigest(leaf, amount, target, nonce);
        if (target == address(0) || !Ed25519.verify(leaf.user, r, s, digest)) revert InvalidSignature();
        forced[checkpointRoot][name] += amount;
        forcedCounts[leaf.user] = nonce + 1;
        if (!_called(leaf.token, abi.encodeWithSignature("transfer(address,uint256)", target, amount))) revert TransferFailed();
        emit ForceWithdrew(leaf.user, nonce, leaf.token, amount);
    }

    /** By approvals that the root did not have as booked. Withdrawals are of account 0. */
    function _paidSince(Withdrawable calldata leaf) private view returns (uint256 sum) {
        uint64 count = leaf.account == 0 ? withdrawalCounts[leaf.user] : 0;
        for (uint64 nonce = leaf.withdrawals; nonce < count; nonce++) {
            Paid storage one = withdrawn[leaf.user][nonce];
            if (one.token == leaf.token) sum += one.amount;
        }
        count = settlementCounts[leaf.user][leaf.account];
        for (uint64 nonce = leaf.settlements; nonce < count; nonce++) {
            Paid storage one = settled[leaf.user][leaf.account][nonce];
            if (one.token == leaf.token) sum += one.amount;
        }
    }

    /** Hashed twice, so that no inner node of the tree is a leaf. */
    function leafOf(Withdrawable calldata leaf) public pure returns (bytes32) {
        bytes32[6] memory words = [
            leaf.user,
            bytes32(uint256(leaf.account)),
            _padded(leaf.token),
            bytes32(leaf.amount),
            bytes32(uint256(leaf.withdrawals)),
            bytes32(uint256(leaf.settlements))
        ];
        return keccak256(abi.encodePacked(keccak256(abi.encodePacked(words))));
    }

    function forcedDigest(
        Withdrawable calldata leaf,
        uint256 amount,
        address target,
        uint64 nonce
    ) public view returns (bytes32) {
        bytes32[8] memory words = [
            ESCAPE_TYPEHASH,
            domainSeparator,
            leaf.user,
            bytes32(uint256(leaf.account)),
            _padded(leaf.token),
            bytes32(amount),
            _padded(target),
            bytes32(uint256(nonce))
        ];
        return keccak256(abi.encodePacked(words));
    }

    /** The two of a pair are hashed in their order as numbers. */
    function _isIn(bytes32 name, bytes32[] calldata proof) private view returns (bool) {
        if (checkpointRoot == 0) return false;
        for (uint256 i = 0; i < proof.length; i++) {
            (bytes32 low, bytes32 high) = name < proof[i] ? (name, proof[i]) : (proof[i], name);
            name = keccak256(abi.encodePacked(low, high));
        }
        return name == checkpointRoot;
    }

    // Settlements.

    function _executeAtomicSettlement(
        Settlement memory order,
        bytes32 settler,
        bytes calldata data,
        bytes calldata signature
    ) internal {
        if (block.timestamp > order.validUntil) revert Expired();
        if (!_isApproved(settler)) revert SettlerNotApproved();
        if (!isExecutor[settler][msg.sender]) revert NotExecutor();
        uint64 expected = settlementCounts[order.user][order.account];
        if (order.nonce != expected) revert InvalidNonce(expected, order.nonce);
        if (!isAdministrator[_recover(settlementDigest(order, settler), signature)]) revert InvalidSignature();
        settlementCounts[order.user][order.account] = expected + 1;
        settled[order.user][order.account][expected] = Paid(order.tokenOut, order.amountOut);
        _exchange(order, data);
        emit Settled(
            order.user,
            order.account,
            order.nonce,
            order.tokenOut,
            order.amountOut,
            order.tokenIn,
            order.amountIn,
            order.mode,
            settler
        );
    }

    function _exchange(Settlement memory order, bytes calldata data) private {
        uint256 pulled = IExecutor(msg.sender).onAtomicSettlement(order.tokenOut, order.amountOut, data);
        if (pulled < order.amountIn) revert InsufficientAmountFromExecutor(order.amountIn, pulled);
        if (!_called(order.tokenIn, abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), pulled))) {
            revert TransferFromFailed();
        }
        if (!_called(order.tokenOut, abi.encodeWithSignature("transfer(address,uint256)", msg.sender, order.amountOut))) {
            revert TransferFailed();
        }
    }

    function settlementDigest(Settlement memory order, bytes32 settler) public view returns (bytes32) {
        bytes32[12] memory words = [
            SETTLEMENT_TYPEHASH,
            domainSeparator,
            _padded(order.tokenOut),
            bytes32(order.amountOut),
            _padded(order.tokenIn),
            bytes32(order.amountIn),
            bytes32(uint256(order.mode)),
            order.user,
            bytes32(uint256(order.account)),
            bytes32(order.nonce),
            bytes32(order.validUntil),
            settler
        ];
        return keccak256(abi.encodePacked(words));
    }

    // Configuration.

    function setDomainSeparator(bytes32 separator) external onlyOwner {
        if (domainSeparator != 0) revert InvalidSetting();
        domainSeparator = separator;
    }

    function setAdministrators(address[] calldata list, uint256 quorum) external {
        if (msg.sender != credentialManager) revert NotCredentialManager();
        if (quorum == 0 || quorum > list.length) revert InvalidSetting();
        for (uint256 i = 0; i < administrators.length; i++) isAdministrator[administrators[i]] = false;
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] == address(0) || isAdministrator[list[i]]) revert InvalidSetting();
            isAdministrator[list[i]] = true;
        }
        administrators = list;
        withdrawalQuorum = quorum;
    }

    function setMinFirstDepositAmount(address token, uint256 amount) external {
        if (msg.sender != owner && msg.sender != credentialManager && !isAdministrator[msg.sender]) revert NotAdmin();
        minFirstDepositAmounts[token] = amount;
    }

    function setDepositorStatus(address depositor, bool isAllowed) external onlyOwner {
        canDeposit[depositor] = isAllowed;
    }

    function setOwner(address next) external onlyOwner {
        if (next == address(0)) revert InvalidSetting();
        owner = next;
    }

    function setCredentialManager(address next) external onlyOwner {
        if (next == address(0)) revert InvalidSetting();
        credentialManager = next;
    }

    function addSettlerExecutor(bytes32 settler, address executor) external onlyOwner {
        if (!_isApproved(settler)) approvedSettlers.push(settler);
        isExecutor[settler][executor] = true;
    }

    function removeSettler(bytes32 settler) external onlyOwner {
        for (uint256 i = 0; i < approvedSettlers.length; i++) {
            if (approvedSettlers[i] != settler) continue;
            approvedSettlers[i] = approvedSettlers[approvedSettlers.length - 1];
            approvedSettlers.pop();
            return;
        }
        revert SettlerNotApproved();
    }

    function getApprovedSettlers() external view returns (bytes32[] memory) {
        return approvedSettlers;
    }

    function _isApproved(bytes32 settler) private view returns (bool) {
        for (uint256 i = 0; i < approvedSettlers.length; i++) if (approvedSettlers[i] == settler) return true;
        return false;
    }

    // Words, signatures, calls of tokens.

    /** In digests an address fills the first 20 bytes of its word. */
    function _padded(address value) private pure returns (bytes32) {
        return bytes32(uint256(uint160(value)) << 96);
    }

    /** `r || s || v` with v of 27 or 28, or the compact form of EIP-2098; anything else is InvalidSignature. */
    function _recover(bytes32 digest, bytes calldata signature) private pure returns (address signer) {
        bytes32 r;
        bytes32 s;
        uint8 v;
        if (signature.length == 65) {
            r = bytes32(signature[0:32]);
            s = bytes32(signature[32:64]);
            v = uint8(signature[64]);
        } else if (signature.length == 64) {
            r = bytes32(signature[0:32]);
            bytes32 packed = bytes32(signature[32:64]);
            s = packed & bytes32(uint256(type(uint256).max >> 1));
            v = uint8(uint256(packed) >> 255) + 27;
        } else {
            revert InvalidSignature();
        }
        if ((v != 27 && v != 28) || uint256(s) > S_MAX) revert InvalidSignature();
        signer = ecrecover(digest, v, r, s);
        if (signer == address(0)) revert InvalidSignature();
    }

    /** A token that returns nothing has transferred when the call succeeds. */
    function _called(address token, bytes memory call) private returns (bool) {
        (bool isDone, bytes memory result) = token.call(call);
        if (!isDone || token.code.length == 0) return false;
        return result.length == 0 || (result.length == 32 && abi.decode(result, (uint256)) == 1);
    }
}

contract VaultV1 is VaultBase {
    struct Withdrawal {
        address tokenAddress;
        uint256 amount;
        uint256 nonce;
    }

    constructor(address owner_, address credentialManager_) VaultBase(owner_, credentialManager_) {}

    function withdraw(
        Withdrawal calldata w,
        bytes32 user,
        address target,
        uint256 validUntil,
        bytes32 epochHash,
        bytes[] calldata signatures
    ) external {
        _withdraw(Payout(w.tokenAddress, w.amount, w.nonce), user, target, validUntil, epochHash, signatures);
    }

    function executeAtomicSettlement(
        Settlement calldata order,
        bytes32 settler,
        bytes calldata data,
        bytes calldata signature
    ) external {
        _executeAtomicSettlement(order, settler, data, signature);
    }
}

contract VaultV2 is VaultBase {
    struct Withdrawal {
        address tokenAddress;
        uint256 amount;
        uint64 nonce;
    }

    struct SettlementOrder {
        address tokenOut;
        uint256 amountOut;
        address tokenIn;
        uint256 amountIn;
        uint8 mode;
        bytes32 user;
        uint64 account;
        uint64 nonce;
        uint256 validUntil;
    }

    constructor(address owner_, address credentialManager_) VaultBase(owner_, credentialManager_) {}

    function withdraw(
        Withdrawal calldata w,
        bytes32 user,
        address target,
        uint256 validUntil,
        bytes32 epochHash,
        bytes[] calldata signatures
    ) external {
        _withdraw(Payout(w.tokenAddress, w.amount, w.nonce), user, target, validUntil, epochHash, signatures);
    }

    function executeAtomicSettlement(
        SettlementOrder calldata order,
        bytes32 settler,
        bytes calldata data,
        bytes calldata signature
    ) external {
        Settlement memory common;
        common.tokenOut = order.tokenOut;
        common.amountOut = order.amountOut;
        common.tokenIn = order.tokenIn;
        common.amountIn = order.amountIn;
        common.mode = order.mode;
        common.user = order.user;
        common.account = order.account;
        common.nonce = order.nonce;
        common.validUntil = order.validUntil;
        _executeAtomicSettlement(common, settler, data, signature);
    }
}
