// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Ed25519 (RFC 8032) over messages of 32 bytes, for the escape hatch of the test vaults: users sign with the keys that name them. Plain
 * formulas, some 2 million gas; the scalar of a signature must be below the order. Not audited.
 */
library Ed25519 {
    uint256 private constant P = 0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed;
    uint256 private constant L = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed;
    uint256 private constant D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3;
    uint256 private constant ROOT = 0x2b8324804fc1df0b2b4d00993dfbd7a72f431806ad2fe478c4ee1b274a0ea0b0;
    uint256 private constant BX = 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a;
    uint256 private constant BY = 0x6666666666666666666666666666666666666666666666666666666666666658;
    uint256 private constant U64 = 0xffffffffffffffff;

    /** Extended coordinates: x = X / Z, y = Y / Z, T = XY / Z. */
    struct Point {
        uint256 x;
        uint256 y;
        uint256 z;
        uint256 t;
    }

    function verify(bytes32 key, bytes32 r, bytes32 s, bytes32 message) internal view returns (bool) {
        uint256 scalar = _reversed(s);
        (bool isPoint, Point memory negated) = _negated(key);
        if (scalar >= L || !isPoint) return false;
        uint256 h = _hash(r, key, message);
        Point memory base = Point(BX, BY, 1, mulmod(BX, BY, P));
        Point memory sum = Point(0, 1, 1, 0);
        for (uint256 bit = 1 << 252; bit > 0; bit >>= 1) {
            sum = _add(sum, sum);
            if (scalar & bit != 0) sum = _add(sum, base);
            if (h & bit != 0) sum = _add(sum, negated);
        }
        uint256 inverse = _power(sum.z, P - 2);
        uint256 x = mulmod(sum.x, inverse, P);
        uint256 y = mulmod(sum.y, inverse, P);
        return _reversed(r) == (y | ((x & 1) << 255));
    }

    function _add(Point memory a, Point memory b) private pure returns (Point memory) {
        unchecked {
            uint256 m = mulmod(a.y + P - a.x, b.y + P - b.x, P);
            uint256 n = mulmod(a.y + a.x, b.y + b.x, P);
            uint256 c = mulmod(mulmod(a.t, 2 * D % P, P), b.t, P);
            uint256 d = mulmod(2 * a.z, b.z, P);
            uint256 e = n + P - m;
            uint256 f = d + P - c;
            uint256 g = d + c;
            uint256 h = n + m;
            return Point(mulmod(e, f, P), mulmod(g, h, P), mulmod(f, g, P), mulmod(e, h, P));
        }
    }

    /** The point of a key with its sign changed. */
    function _negated(bytes32 key) private view returns (bool, Point memory point) {
        uint256 encoded = _reversed(key);
        uint256 y = encoded & (type(uint256).max >> 1);
        if (y >= P) return (false, point);
        uint256 y2 = mulmod(y, y, P);
        uint256 u = addmod(y2, P - 1, P);
        uint256 v = addmod(mulmod(D, y2, P), 1, P);
        uint256 v3 = mulmod(mulmod(v, v, P), v, P);
        uint256 power = _power(mulmod(mulmod(u, mulmod(v3, v3, P), P), v, P), (P - 5) / 8);
        uint256 x = mulmod(mulmod(u, v3, P), power, P);
        uint256 square = mulmod(v, mulmod(x, x, P), P);
        if (square != u) {
            if (addmod(square, u, P) != 0) return (false, point);
            x = mulmod(x, ROOT, P);
        }
        bool isOdd = encoded >> 255 == 1;
        if (x == 0 && isOdd) return (false, point);
        if ((x & 1 == 1) == isOdd) x = (P - x) % P;
        return (true, Point(x, y, 1, mulmod(x, y, P)));
    }

    function _power(uint256 base, uint256 exponent) private view returns (uint256) {
        (bool isDone, bytes memory result) = address(5).staticcall(abi.encode(32, 32, 32, base, exponent, P));
        require(isDone);
        return abi.decode(result, (uint256));
    }

    /** SHA-512 of r, key and message, 96 bytes and so one block, as a little-endian number modulo the order. */
    function _hash(bytes32 r, bytes32 key, bytes32 message) private pure returns (uint256) {
        uint256[80] memory w;
        _split(w, 0, r);
        _split(w, 4, key);
        _split(w, 8, message);
        w[12] = 1 << 63;
        w[15] = 768;
        uint256[8] memory v = _compressed(w);
        uint256 low = _reversed(bytes32((v[0] << 192) | (v[1] << 128) | (v[2] << 64) | v[3]));
        uint256 high = _reversed(bytes32((v[4] << 192) | (v[5] << 128) | (v[6] << 64) | v[7]));
        return addmod(low, mulmod(high, (type(uint256).max % L) + 1, L), L);
    }

    function _split(uint256[80] memory w, uint256 from, bytes32 value) private pure {
        for (uint256 i = 0; i < 4; i++) w[from + i] = (uint256(value) >> (192 - 64 * i)) & U64;
    }

    function _compressed(uint256[80] memory w) private pure returns (uint256[8] memory sums) {
        unchecked {
            bytes memory k = K;
            for (uint256 i = 16; i < 80; i++) {
                uint256 a = w[i - 15];
                uint256 b = w[i - 2];
                a = _turn(a, 1) ^ _turn(a, 8) ^ (a >> 7);
                b = _turn(b, 19) ^ _turn(b, 61) ^ (b >> 6);
                w[i] = (w[i - 16] + a + w[i - 7] + b) & U64;
            }
            sums = [uint256(0x6a09e667f3bcc908), 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179];
            uint256[8] memory v = [sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]];
            for (uint256 i = 0; i < 80; i++) {
                uint256 word;
                assembly {
                    word := shr(192, mload(add(add(k, 32), mul(i, 8))))
                }
                uint256 e = v[4];
                uint256 a = v[0];
                uint256 one = v[7] + (_turn(e, 14) ^ _turn(e, 18) ^ _turn(e, 41)) + ((e & v[5]) ^ (~e & U64 & v[6])) + word + w[i];
                uint256 two = (_turn(a, 28) ^ _turn(a, 34) ^ _turn(a, 39)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
                v[7] = v[6];
                v[6] = v[5];
                v[5] = e;
                v[4] = (v[3] + one) & U64;
                v[3] = v[2];
                v[2] = v[1];
                v[1] = a;
                v[0] = (one + two) & U64;
            }
            for (uint256 i = 0; i < 8; i++) sums[i] = (sums[i] + v[i]) & U64;
        }
    }

    function _turn(uint256 value, uint256 bits) private pure returns (uint256) {
        return ((value >> bits) | (value << (64 - bits))) & U64;
    }

    /** Between the byte orders. */
    function _reversed(bytes32 value) private pure returns (uint256 result) {
        for (uint256 i = 0; i < 32; i++) result |= uint256(uint8(value[i])) << (8 * i);
    }

    /** The constants of SHA-512. */
    bytes private constant K =
        hex"428a2f98d728ae227137449123ef65cdb5c0fbcfec4d3b2fe9b5dba58189dbbc3956c25bf348b53859f111f1b605d019"
        hex"923f82a4af194f9bab1c5ed5da6d8118d807aa98a303024212835b0145706fbe243185be4ee4b28c550c7dc3d5ffb4e2"
        hex"72be5d74f27b896f80deb1fe3b1696b19bdc06a725c71235c19bf174cf692694e49b69c19ef14ad2efbe4786384f25e3"
        hex"0fc19dc68b8cd5b5240ca1cc77ac9c652de92c6f592b02754a7484aa6ea6e4835cb0a9dcbd41fbd476f988da831153b5"
        hex"983e5152ee66dfaba831c66d2db43210b00327c898fb213fbf597fc7beef0ee4c6e00bf33da88fc2d5a79147930aa725"
        hex"06ca6351e003826f142929670a0e6e7027b70a8546d22ffc2e1b21385c26c9264d2c6dfc5ac42aed53380d139d95b3df"
        hex"650a73548baf63de766a0abb3c77b2a881c2c92e47edaee692722c851482353ba2bfe8a14cf10364a81a664bbc423001"
        hex"c24b8b70d0f89791c76c51a30654be30d192e819d6ef5218d69906245565a910f40e35855771202a106aa07032bbd1b8"
        hex"19a4c116b8d2d0c81e376c085141ab532748774cdf8eeb9934b0bcb5e19b48a8391c0cb3c5c95a634ed8aa4ae3418acb"
        hex"5b9cca4f7763e373682e6ff3d6b2b8a3748f82ee5defb2fc78a5636f43172f6084c87814a1f0ab728cc702081a6439ec"
        hex"90befffa23631e28a4506cebde82bde9bef9a3f7b2c67915c67178f2e372532bca273eceea26619cd186b8c721c0c207"
        hex"eada7dd6cde0eb1ef57d4f7fee6ed17806f067aa72176fba0a637dc5a2c898a6113f9804bef90dae1b710b35131c471b"
        hex"28db77f523047d8432caab7b40c724933c9ebe0a15c9bebc431d67c49c100d4c4cc5d4becb3e42b6597f299cfc657e2a"
        hex"5fcb6fab3ad6faec6c44198c4a475817";
}
