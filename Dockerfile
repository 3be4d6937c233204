# Two stages, the same make targets as on a laptop: build a wheel with the pages inside, install it.
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make wheel
RUN make install-wheel VENV=/opt/candor

FROM python:3.11-slim
RUN useradd --create-home candor && mkdir /data && chown candor /data
COPY --from=build /opt/candor /opt/candor
USER candor
ENV PATH=/opt/candor/bin:$PATH CANDOR_DATA=/data CANDOR_HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz')"]
CMD ["python", "-m", "server"]
