"""reorder.py SAMPLES.npy A.npy B.npy: the samples backwards, a third of them in the first file."""

import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 10 + int.from_bytes(data[8:10], "little")
    return data[:10], data[10:end].decode(), data[end:]


def write(path, header, count, total, rows):
    start, text = header
    new = text.replace(f"({total},", f"({count},", 1)
    new = new.rstrip("\n ").ljust(len(text) - 1) + "\n"
    with open(path, "wb") as file:
        file.write(start + new.encode() + b"".join(rows))


start, text, data = read(sys.argv[1])
total = int(text.split("'shape': (")[1].split(",")[0])
size = len(data) // total
samples = [data[i * size : (i + 1) * size] for i in range(total)][::-1]
third = total // 3
write(sys.argv[2], (start, text), third, total, samples[:third])
write(sys.argv[3], (start, text), total - third, total, samples[third:])
